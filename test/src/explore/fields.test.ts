import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { Field } from '../../../engine/column/field-counts.ts';
import { EVERYTHING } from '../../../engine/plan/reach.ts';
import { Random } from '../../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../../fuzz/seed.ts';
import { runsOf } from '../../support/budget.ts';
import { EventBackend, NOW_US } from './event-backend.ts';
import { fieldCounts, type PostedEvent } from './event-loop.ts';

let store: EventBackend;
const LARGE = 'large';
const SOURCES = Array.from({ length: 120 }, (_, index) => `f${index}`);
let used = 0;

before(async () => {
  store = await EventBackend.open([LARGE, ...SOURCES].join(','));
});

after(() => store.close());

const KEY = fc.constantFrom('a', 'b', 'constructor', 'a b', '', 'é');
const SCALAR = fc.constantFrom<unknown>(0, 5, 2.5, '5', 'x', '', true, false, null);
const VALUE = fc.oneof(
  { weight: 4, arbitrary: SCALAR },
  { weight: 1, arbitrary: fc.array(SCALAR, { maxLength: 3 }) },
);
const RECORD = fc.dictionary(
  KEY,
  fc.oneof(
    { weight: 3, arbitrary: VALUE },
    { weight: 1, arbitrary: fc.dictionary(KEY, VALUE, { maxKeys: 2 }) },
  ),
  { maxKeys: 4 },
);
const EVENT: fc.Arbitrary<PostedEvent> = fc.record(
  {
    project: fc.constantFrom('p', 'q'),
    metadata: fc.oneof(RECORD, fc.array(RECORD, { maxLength: 2 })),
    level: VALUE,
    extra: RECORD,
  },
  { requiredKeys: ['metadata'] },
);

type Scope = {
  readonly project: string | undefined;
  readonly startUs: number;
  readonly endUs: number;
};

async function askFields(source: string, { project, startUs, endUs }: Scope) {
  return store.backend.engine.countFields({
    ...{ source, projectKey: project, window: { startUs, endUs } },
    ...{ reach: EVERYTHING, withValues: true },
  });
}

/** As the loop gives them. */
function told({ path, kinds, eventCount, values }: Field) {
  ok(values?.isDistinctExact && values.isTopExact);
  return { path, kinds, eventCount, distinct: values.distinctCount, top: values.top };
}

test('the fields of a window and project are those of an exact loop over what was posted', async () => {
  await fc.assert(
    fc.asyncProperty(
      // Each run takes a source: there are not enough to shrink a failure.
      fc.noShrink(fc.array(EVENT, { minLength: 1, maxLength: 40 })),
      fc.constantFrom('open', 'sealed', 'both'),
      fc.constantFrom(undefined, 'p'),
      fc.noShrink(fc.tuple(fc.nat(40), fc.nat(40))),
      async (events, form, project, [from, to]) => {
        const source = SOURCES[used++]!;
        const posted = events.map((event, index) => ({ ...event, timestamp: NOW_US - index }));
        const half = form === 'both' ? Math.floor(posted.length / 2) : 0;
        await store.post(source, posted.slice(0, half));
        if (half > 0) await store.seal();
        await store.post(source, posted.slice(half));
        if (form === 'sealed') await store.seal();
        const scope = {
          project,
          startUs: NOW_US - Math.max(from, to),
          endUs: NOW_US - Math.min(from, to),
        };
        const inside = events.filter((event, index) => {
          const timeUs = NOW_US - index;
          const isOfProject = project === undefined || event['project'] === project;
          return isOfProject && timeUs >= scope.startUs && timeUs < scope.endUs;
        });
        const found = await askFields(source, scope);
        equal(found.eventCount, inside.length);
        deepEqual(found.fields.map(told), fieldCounts(inside));
      },
    ),
    { numRuns: runsOf(SOURCES.length), includeErrorInReport: true },
  );
});

/** Estimates that are off by more standard errors than this do not come by chance. */
const STANDARD_ERRORS = 6;
/** Values are counted in about so many events. */
const SAMPLED = 16_384;

test('of many events, paths are counted exactly, and values are marked as estimates and near to an exact loop', async (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  const random = new Random(seed);
  const events = Array.from({ length: 60_000 }, (_, index) => ({
    project: random.below(3) === 0 ? 'q' : 'p',
    metadata: {
      status: random.pick([200, 200, 200, 200, 200, 200, 404, 500]),
      user: random.below(1_000),
      request: `r${index}`,
      ...(random.below(2) === 0 ? { cached: random.below(4) === 0 } : {}),
    },
  }));
  for (let from = 0; from < events.length; from += 10_000) {
    const part = events.slice(from, from + 10_000);
    const posted = part.map((event, index) => ({ ...event, timestamp: NOW_US - from - index }));
    await store.post(LARGE, posted);
    if (from === 20_000) await store.seal();
  }
  for (const project of [undefined, 'p']) {
    const own = events.filter((event) => project === undefined || event.project === project);
    const scope = { project, startUs: NOW_US - events.length, endUs: NOW_US + 1 };
    const found = await askFields(LARGE, scope);
    const exact = new Map(fieldCounts(own).map((field) => [JSON.stringify(field.path), field]));
    equal(found.eventCount, own.length);
    equal(found.fields.length, exact.size);
    for (const { path, kinds, eventCount, values } of found.fields) {
      const what = `${path.join('.')} of ${project}`;
      const wanted = exact.get(JSON.stringify(path))!;
      deepEqual([kinds, eventCount], [wanted.kinds, wanted.eventCount], what);
      deepEqual([values?.isDistinctExact, values?.isTopExact], [false, false], what);
      const distinct = values!.distinctCount;
      ok(Math.abs(distinct - wanted.distinct) <= wanted.distinct / 20, `${what}: ${distinct}`);
      const key = path.at(-1) as keyof (typeof own)[number]['metadata'];
      for (const { value, count } of values!.top) {
        const all = own.filter(({ metadata }) => metadata[key] === value).length;
        const share = all / own.length;
        const error = own.length * Math.sqrt((share * (1 - share)) / SAMPLED);
        ok(Math.abs(count - all) <= STANDARD_ERRORS * error, `${what}: ${value} ${count}, ${all}`);
      }
    }
  }
});
