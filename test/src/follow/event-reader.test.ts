import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVERYTHING } from '../../../engine/plan/reach.ts';
import { QueryError } from '../../../engine/query-error.ts';
import { BUILT_IN_SOURCES } from '../../../ingest/source.ts';
import type { BoundedRunOptions } from '../../../src/call/query-engine.ts';
import { EventIds } from '../../../src/follow/event-ids.ts';
import { EventReader } from '../../../src/follow/event-reader.ts';
import { InstanceKey } from '../../../src/instance-key.ts';
import type { PublishedEvents } from '../../../src/store/published-events.ts';
import { EventStream } from '../../support/event-stream.ts';
import { fakeAnswer, NO_EVENTS, PRIVATE, type Run, withApp } from '../harness.ts';

const [SOURCE] = BUILT_IN_SOURCES;

function eventsUpTo(lastNumber: number): PublishedEvents {
  return { ...NO_EVENTS, lastNumber: () => lastNumber, pageEnd: async () => lastNumber };
}

/** A reader whose queries run until they are cancelled. */
function readerOf(): { readonly reader: EventReader; readonly runs: BoundedRunOptions[] } {
  const runs: BoundedRunOptions[] = [];
  const reader = new EventReader({
    engine: {
      run: (_query, options) => {
        runs.push(options);
        return new Promise((_resolve, reject) => {
          const cancel = () => reject(new QueryError('query_cancelled', 'nobody waits for it'));
          options.signal?.addEventListener('abort', cancel);
        });
      },
    },
    events: eventsUpTo(10),
    ids: new EventIds(InstanceKey.random()),
    nowUs: () => 0,
  });
  return { reader, runs };
}

const ONE_PROJECT = { projects: ['alpha'], sources: 'all' } as const;

const eventsOf = (tenant: string) => ({ source: SOURCE!, reach: EVERYTHING, tenant });

test('all followers of a tenant share the read of a page, which is cancelled when the last one leaves', async () => {
  const { reader, runs } = readerOf();
  const callers = Array.from({ length: 3 }, () => new AbortController());
  const pages = callers.map(({ signal }, index) =>
    reader.read(eventsOf(index < 2 ? 'one' : 'two'), 5, signal),
  );
  // First the end of the page is looked up.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    runs.map(({ tenant }) => tenant),
    ['one', 'two'],
  );
  callers[0]!.abort();
  await assert.rejects(pages[0]!, { code: 'query_cancelled' });
  assert.deepEqual(
    runs.map(({ signal }) => signal?.aborted),
    [false, false],
  );
  callers[1]!.abort();
  await assert.rejects(pages[1]!, { code: 'query_cancelled' });
  assert.deepEqual(
    runs.map(({ signal }) => signal?.aborted),
    [true, false],
  );
  callers[2]!.abort();
  await assert.rejects(pages[2]!, { code: 'query_cancelled' });
});

test('the search for the last events counts as the tenant’s, and ends when its caller leaves', async () => {
  const { reader, runs } = readerOf();
  const caller = new AbortController();
  const start = reader.lastStart(eventsOf('one'), 3, caller.signal);
  assert.equal(runs[0]!.tenant, 'one');
  caller.abort();
  await assert.rejects(start, { code: 'query_cancelled' });
});

test('followers of a tenant that start at the same event share the search for it', async () => {
  const { reader, runs } = readerOf();
  const caller = new AbortController();
  const of = (tenant: string, count: number) =>
    reader.lastStart(eventsOf(tenant), count, caller.signal);
  const starts = [of('one', 3), of('one', 3), of('one', 2), of('two', 3)];
  assert.equal(runs.length, 3);
  caller.abort();
  for (const start of starts) await assert.rejects(start, { code: 'query_cancelled' });
});

test('the last events are searched among no more recent ones than they may be among', async () => {
  for (const { reach, firstRowCount, starts } of [
    { reach: EVERYTHING, firstRowCount: 3, starts: [99_997] },
    { reach: EVERYTHING, firstRowCount: 2, starts: [99_997, 99_232] },
    { reach: ONE_PROJECT, firstRowCount: 3, starts: [99_952] },
    { reach: ONE_PROJECT, firstRowCount: 2, starts: [99_952, 87_712] },
  ]) {
    const runs: BoundedRunOptions[] = [];
    const reader = new EventReader({
      engine: {
        run: async (_query, options) => {
          runs.push(options);
          const rowCount = runs.length === 1 ? firstRowCount : 3;
          return fakeAnswer(Array.from({ length: rowCount }, (_, row) => ({ _arrival: 90 - row })));
        },
      },
      events: eventsUpTo(100_000),
      ids: new EventIds(InstanceKey.random()),
      nowUs: () => 0,
    });
    const caller = new AbortController();
    const events = { ...eventsOf('one'), reach };
    assert.equal(await reader.lastStart(events, 3, caller.signal), 88);
    assert.deepEqual(
      runs.map(({ arrivalAfter }) => arrivalAfter! + 1),
      starts,
    );
  }
});

test('the search for the last events ends at the first event', async () => {
  const starts: number[] = [];
  const reader = new EventReader({
    engine: {
      run: async (_query, { arrivalAfter }) => {
        starts.push(arrivalAfter! + 1);
        return fakeAnswer([]);
      },
    },
    events: eventsUpTo(100),
    ids: new EventIds(InstanceKey.random()),
    nowUs: () => 0,
  });
  assert.equal(await reader.lastStart(eventsOf('one'), 3, new AbortController().signal), 100);
  assert.deepEqual(starts, [97, 0]);
});

test('over HTTP, the tenant is the token', async () => {
  const tenants: unknown[] = [];
  const run: Run = async (_query, { tenant }) => {
    tenants.push(tenant);
    return fakeAnswer([]);
  };
  await withApp({ run }, async ({ port }) => {
    const url = `http://127.0.0.1:${port}/api/sources/postgres.logs/tail?last=1`;
    const stream = await EventStream.open(url, { 'X-API-KEY': PRIVATE });
    assert.equal(stream.response.statusCode, 200);
    stream.close();
    assert.deepEqual(tenants, ['settings-private']);
  });
});
