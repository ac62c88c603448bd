import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { hashOf } from '../../bench/measure.ts';
import { NOW_US } from '../../bench/workload/clock.ts';
import { Tenants } from '../../bench/workload/tenants.ts';
import { events, KINDS, type Kind, ndjson } from '../../bench/workload/workload.ts';
import { openWorkload } from '../../bench/workload/workload-backend.ts';

const COUNT = 20_000;
const MINUTE_US = 60_000_000;

const tenants = new Tenants(2000);

type Event = {
  readonly id: string;
  readonly timestamp: number;
  readonly project?: string;
  readonly metadata: {
    readonly project_ref?: string;
    readonly request?: { readonly url: string; readonly path: string };
  };
};

function made(kind: Kind, eventCount: number): readonly Event[] {
  return Array.from(events(kind, { tenants, eventCount }), (text) => JSON.parse(text) as Event);
}

for (const kind of KINDS.keys()) {
  test(`${kind}: each run has the same events, singly and together, of one week in order`, () => {
    const eventCount = 1000;
    const texts = Array.from(events(kind, { tenants, eventCount }));
    const together = Array.from(ndjson(kind, { tenants, eventCount, perText: 300 }));
    equal(hashOf(together.map(({ text }) => text).join('')), hashOf(`${texts.join('\n')}\n`));
    deepEqual(
      together.map((part) => part.eventCount),
      [300, 300, 300, 100],
    );
    const times = made(kind, eventCount).map(({ timestamp }) => timestamp);
    deepEqual(times.toSorted(), times);
    ok(times[0]! >= NOW_US - 7 * 24 * 60 * MINUTE_US && times.at(-1)! < NOW_US);
    equal(new Set(made(kind, eventCount).map(({ id }) => id)).size, eventCount);
  });
}

test('a few projects have most events, and the last minutes are dense', () => {
  const lean = made('lean', COUNT);
  const share = (isCounted: (event: Event) => boolean): number =>
    lean.filter(isCounted).length / COUNT;
  const near = (value: number, wanted: number): void =>
    ok(Math.abs(value - wanted) < 0.15 * wanted, `got ${value}, wanted about ${wanted}`);
  near(
    share(({ project }) => project === tenants.hot.ref),
    0.17,
  );
  near(
    share(({ timestamp }) => timestamp >= NOW_US - 60 * MINUTE_US),
    0.03,
  );
  near(
    share(({ timestamp }) => timestamp >= NOW_US - 5 * MINUTE_US),
    0.005,
  );
});

test('some URLs name a project that is not their host’s', () => {
  const foreign = made('lean', COUNT).filter(({ project, metadata }) => {
    const url = metadata.request!.url.slice(`https://${project}.supabase.co`.length);
    return tenants.projects.some(({ ref }) => ref !== project && url.includes(ref));
  });
  ok(Math.abs(foreign.length / COUNT - 0.007) < 0.002, `got ${foreign.length} of ${COUNT}`);
});

test('a workload is made once, and then found with all its events sealed', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'weir-test-'));
  try {
    const options = {
      eventCounts: new Map<Kind, number>([['lean', 3000]]),
      ...{ projectCount: 20, folder: join(parent, 'data'), environment: { WORKERS: '1' } },
    };
    for (let time = 0; time < 2; time++) {
      const { backend, nowUs } = await openWorkload(options);
      const stats = backend.stats().sources.find(({ source }) => source === 'cloudflare.logs.prod');
      equal(stats?.rowCount, 3000);
      equal(stats?.segments.open.count, 0);
      await backend.close(nowUs);
    }
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
});
