import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { QueryExplanation } from '../../engine/plan/explanation.ts';
import { EVERYTHING, type Reach } from '../../engine/plan/reach.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { CACHE_BYTES_MAX } from '../../src/limits.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { HostileCalls, type TenantCall, wildDefinition } from './tenant-calls.ts';
import type { Outcome } from './tenant-desk.ts';
import { EDGE, type Tenant, type TenantEvent, tenantEvents, tenantsOf } from './tenant-events.ts';

/** Callers whose calls come in a row; all are called for in turn, and meet what the ones before have left. */
const CALLS_IN_A_ROW = 10;

/** `here`: small runs on the thread that asks. `workers`: none. A store without threads of its own has one way. */
export type Way = 'here' | 'workers';

/** A store with events of tenants, and what answers calls of it. Calls do not overlap. */
export interface TenantStore {
  /** Takes events in, those of one source in one batch. */
  post(events: readonly TenantEvent[]): Promise<void>;
  /** Ends a segment, if the store has any. */
  seal(): Promise<void>;
  /** Forgets all events. */
  clear(): void;
  call(call: TenantCall, reach: Reach, way: Way): Promise<Outcome>;
  explain(call: TenantCall, reach: Reach): Promise<QueryExplanation | undefined>;
  /** Makes what is made in the background of calls so far. */
  prepare(): Promise<void>;
  /** Calls that were given a kept answer. */
  readonly hitCount: number;
  /** Rows that runs took from what was remembered; `undefined` of a store that remembers none. */
  readonly rememberedRows: number | undefined;
  close(): Promise<void>;
}

export type IsolationOptions = {
  readonly callCount: number;
  readonly tenantCount: number;
  /** Opens a store with the definitions of `folder`. With a `cacheBytesMax` of 0 each call runs. */
  readonly open: (folder: string, cacheBytesMax: number) => Promise<TenantStore>;
  /** Fails unless two answers are the same. */
  readonly expectSame: (outcome: Outcome, expected: Outcome, what: string) => void;
};

/** All that calls are checked with: everybody's rows, and those of the caller alone. */
type World = Pick<IsolationOptions, 'expectSame'> & {
  readonly tenants: readonly Tenant[];
  readonly events: readonly TenantEvent[];
  readonly shared: TenantStore;
  readonly own: TenantStore;
  /** Without any rows. */
  readonly none: TenantStore;
  readonly counts: Record<'calls' | 'rows' | 'errors' | 'givenUp' | 'refused', number>;
};

/** Checks that a caller bound to projects is answered as if there were no others. */
export async function checkIsolation(
  context: TestContext,
  options: IsolationOptions,
): Promise<void> {
  const { callCount } = options;
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  const random = new Random(seed);
  const folder = await mkdtemp(join(tmpdir(), 'weir-isolation-'));
  const world = await openWorld(random, folder, options);
  const { shared, own, none, tenants, counts } = world;
  try {
    await checkMeeting(world);
    const calls = new HostileCalls(random, tenants);
    while (counts.calls < callCount) {
      const bound = await chooseCaller(random, world);
      for (let left = CALLS_IN_A_ROW; left > 0; left--) {
        const call = calls.next(bound.owners[0]!);
        const outcome = await checkCall(random, world, { bound, call });
        counts.calls += 1;
        if (isGivenUp(outcome)) counts.givenUp += 1;
        else if ('code' in outcome) counts.errors += 1;
        else counts.rows += (JSON.parse(outcome.json) as { result: unknown[] }).result.length;
      }
      await shared.prepare();
    }
    const { hitCount: hits, rememberedRows } = shared;
    context.diagnostic(JSON.stringify({ ...counts, hits, rememberedRows }));
    ok(counts.rows > callCount / 4 && counts.errors < callCount / 2, 'calls have rows');
  } finally {
    await shared.close();
    await own.close();
    await none.close();
    await rm(folder, { recursive: true });
  }
}

/** Several callers ask the same question again and again. Each gets its own rows only, also from kept answers and remembered states. */
async function checkMeeting({ tenants, events, shared }: World): Promise<void> {
  const keys = tenants.map(({ key }) => key);
  const bounds = [undefined, [keys[0]!], [keys[1]!], [keys[2]!, keys[0]!]];
  for (const endpoint of ['wild.kept', 'wild.run']) {
    const sql = 'SELECT COUNT(*) AS n FROM edge';
    const call = { endpoint, parameters: {}, sql, isLinear: true };
    for (const way of ['here', 'workers'] as const) {
      for (const bound of [...bounds, ...bounds, ...bounds]) {
        const own = events.filter(
          ({ source, owner }) =>
            source === EDGE && (bound === undefined || bound.some((key) => key === owner)),
        );
        const reach = bound === undefined ? EVERYTHING : { ...EVERYTHING, projects: bound };
        const json = `{"result":[{"n":${own.length}}]}`;
        deepEqual(await shared.call(call, reach, way), { json }, `${endpoint} of ${bound}`);
      }
    }
  }
  const { hitCount, rememberedRows } = shared;
  ok(hitCount > 0 && rememberedRows !== 0, 'answers and states are remembered');
}

/** Who calls: the tenants whose projects it is bound to, and how that is said. */
type Bound = { readonly owners: readonly Tenant[]; readonly reach: Reach };

/** Binds a caller to one project or some, and puts its rows where it would be alone. */
async function chooseCaller(random: Random, { tenants, events, own }: World): Promise<Bound> {
  const count = random.pick([1, 1, 1, 2, 3]);
  const owners = [...new Set(Array.from({ length: count }, () => random.pick(tenants)))];
  const keys = owners.map(({ key }) => key);
  const rows = events.filter(({ owner }) => owner !== undefined && keys.includes(owner));
  own.clear();
  const sealed = random.below(rows.length + 1);
  await own.post(rows.slice(0, sealed));
  await own.seal();
  await own.post(rows.slice(sealed));
  return { owners, reach: { projects: keys, sources: 'all' } };
}

async function checkCall(
  random: Random,
  { tenants, shared, own, none, counts, expectSame }: World,
  { bound, call }: { readonly bound: Bound; readonly call: TenantCall },
): Promise<Outcome> {
  const { owners, reach } = bound;
  const way = random.pick<Way>(['here', 'workers']);
  const what = `${JSON.stringify(call)} of ${JSON.stringify(reach.projects)}`;
  const expected = await own.call(call, EVERYTHING, way);
  // Whoever sees all asks the same before, between, or not at all.
  for (const isAll of random.pick([
    [false],
    [false, false, false],
    [true, false],
    [false, true, false],
  ])) {
    if (isAll && !call.isLinear) continue;
    const outcome = await shared.call(call, isAll ? EVERYTHING : reach, way);
    if (isAll) continue;
    const foreign = tenants.filter((tenant) => !owners.includes(tenant));
    const text = JSON.stringify(outcome);
    deepEqual(marksIn(text, foreign), [], what);
    if ('code' in outcome && outcome.code === 'out_of_reach') {
      // It asked for projects of others alone: nothing of its own was in the answer.
      deepEqual(expected, await none.call(call, EVERYTHING, 'here'), what);
      counts.refused += 1;
      continue;
    }
    if (isGivenUp(expected) || isGivenUp(outcome)) continue;
    if ('code' in expected && 'code' in outcome) equal(outcome.code, expected.code, what);
    else expectSame(outcome, expected, what);
  }
  if (random.below(8) === 0) {
    const explanation = await shared.explain(call, reach);
    for (const scan of explanation?.run?.scans ?? []) {
      equal(scan.segmentRowCount ?? scan.segmentsInSource, undefined, what);
    }
    deepEqual(marksIn(JSON.stringify(explanation ?? {}), tenants), [], what);
  }
  return expected;
}

/** For the time it took, which is another with other machines and other rows beside. */
function isGivenUp(outcome: Outcome): boolean {
  return 'code' in outcome && outcome.code === 'query_timeout';
}

function marksIn(text: string, tenants: readonly Tenant[]): readonly string[] {
  return tenants.flatMap(({ mark }) => (text.includes(mark) ? [mark] : []));
}

/** Everybody's rows: three times some are sealed, and the last of them are not. */
async function openWorld(
  random: Random,
  folder: string,
  { tenantCount, open, expectSame }: IsolationOptions,
): Promise<World> {
  const ids = [
    '6f8f4f3a-3d1b-4f51-9a42-8a8c8d0c8f10',
    '6f8f4f3a-3d1b-4f51-9a42-8a8c8d0c8f11',
  ] as const;
  await writeFile(
    join(folder, 'run.sql'),
    wildDefinition('wild.run', ids[0], '-- cache: disabled'),
  );
  await writeFile(join(folder, 'kept.sql'), wildDefinition('wild.kept', ids[1], '-- cache: 900s'));
  const tenants = tenantsOf(tenantCount);
  const events = tenantEvents(random, tenants);
  const shared = await open(folder, CACHE_BYTES_MAX);
  const quarter = Math.ceil(events.length / 4);
  for (let from = 0; from < events.length; from += quarter) {
    await shared.post(events.slice(from, from + quarter));
    if (from + quarter < events.length) await shared.seal();
  }
  const counts = { calls: 0, rows: 0, errors: 0, givenUp: 0, refused: 0 };
  const [own, none] = [await open(folder, 0), await open(folder, 0)];
  return { tenants, events, shared, own, none, counts, expectSame };
}
