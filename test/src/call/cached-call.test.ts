import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import {
  ask,
  echoRun,
  fakeAnswer,
  NOW_US,
  post,
  type Run,
  type TestApp,
  withApp,
} from '../harness.ts';
import { askBytes } from '../raw-body.ts';

const CACHED = `-- id: 22222222-2222-4333-8444-555555555555
-- name: app.cached
-- alias: app.again
-- cache: 60s
-- warm: 20s
-- param: project string required from=ref
-- param: since timestamp
SELECT @project, @since
`;

const PATH = '/api/endpoints/app.cached?project=p';

/** Counts its runs, and answers with their number and optionally a long text. */
function countingRun(length = 0): { run: Run; count: () => number } {
  let count = 0;
  const run: Run = async () => fakeAnswer([{ run: ++count, text: 'long '.repeat(length / 5) }]);
  return { run, count: () => count };
}

async function withCached(
  options: { run?: Run },
  work: (app: TestApp, clock: { ms: number }) => Promise<void>,
): Promise<void> {
  const clock = { ms: 5_000_000 };
  const { run } = options;
  await withApp({ definition: CACHED, run, monotonicMs: () => clock.ms }, (app) =>
    work(app, clock),
  );
}

test('the first call runs and its answer is kept, and the next call gets the same bytes and their age', async () => {
  await withCached({}, async (app, clock) => {
    const first = await ask(app, { path: PATH });
    assert.equal(first.status, 200);
    assert.equal(first.headers['cache-status'], 'weir; fwd=miss; stored');
    assert.equal(first.headers['age'], '0');
    assert.equal(first.headers['cache-control'], 'private, max-age=60');
    assert.match(
      String(first.headers['server-timing']),
      /^parse;dur=.*, plan;dur=.*, queue;dur=.*, run;dur=.*, cache;dur=\d+\.\d{3}$/,
    );
    clock.ms += 12_999;
    const second = await ask(app, { path: PATH });
    assert.equal(second.text, first.text);
    assert.equal(second.headers['cache-status'], 'weir; hit; ttl=48');
    assert.equal(second.headers['age'], '12');
    assert.equal(second.headers['etag'], first.headers['etag']);
    assert.equal(second.headers['content-length'], first.headers['content-length']);
    assert.equal(second.headers['content-type'], 'application/json; charset=utf-8');
    assert.match(
      String(second.headers['server-timing']),
      /^parse;dur=\d+\.\d{3}, cache;dur=\d+\.\d{3}$/,
    );
  });
});

test('an answer is kept until it expires and no longer', async () => {
  const { run, count } = countingRun();
  await withCached({ run }, async (app, clock) => {
    await ask(app, { path: PATH });
    clock.ms += 59_999;
    const last = await ask(app, { path: PATH });
    assert.equal(last.headers['cache-status'], 'weir; hit; ttl=1');
    assert.equal(count(), 1);
    clock.ms += 1;
    assert.equal(
      (await ask(app, { path: PATH })).headers['cache-status'],
      'weir; fwd=miss; stored',
    );
    assert.equal(count(), 2);
  });
});

test('only parts of a call that can change the answer are part of the key', async () => {
  const { run, count } = countingRun();
  await withCached({ run }, async (app) => {
    const since = `${PATH}&since=2026-01-15T12:00:00Z`;
    await ask(app, { path: since });
    for (const same of [
      `${PATH}&since=2026-01-15T14:00:00%2B02:00`,
      `${PATH}&since=2026-01-15+12:00`,
      `${since}&other=1`,
      '/api/endpoints/app.again?since=2026-01-15T12:00:00.000000Z&ref=p',
      '/api/endpoints/query/22222222-2222-4333-8444-555555555555?project=p&since=2026-01-15T12:00Z',
    ]) {
      assert.match(String((await ask(app, { path: same })).headers['cache-status']), /hit/, same);
    }
    const body = { project: 'p', since: '2026-01-15T12:00:00Z' };
    const posted = await post(app, '/api/endpoints/app.cached', body);
    assert.match(String(posted.headers['cache-status']), /hit/);
    assert.equal(count(), 1);
    for (const other of [
      `${PATH}&since=2026-01-15T12:00:00.000001Z`,
      PATH,
      PATH.replace('=p', '=P'),
      PATH.replace('=p', `=p+${NOW_US}`),
      PATH.replace('=p', '=p+null'),
    ]) {
      const { headers } = await ask(app, { path: other });
      assert.match(String(headers['cache-status']), /miss; stored/, other);
    }
  });
});

test('a tag identifies one body, and a caller that has it gets 304', async () => {
  await withCached({}, async (app, clock) => {
    const first = await ask(app, { path: PATH });
    const etag = String(first.headers['etag']);
    assert.match(etag, /^"[\w-]+"$/);
    const other = await ask(app, { path: PATH.replace('=p', '=q') });
    assert.notEqual(other.headers['etag'], etag);
    clock.ms += 3_000;
    for (const method of ['GET', 'HEAD']) {
      for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const headers = { 'If-None-Match': tag };
        const same = await ask(app, { path: PATH, method, headers });
        assert.equal(same.status, 304);
        assert.equal(same.text, '');
        assert.equal(same.headers['etag'], etag);
        assert.equal(same.headers['cache-control'], 'private, max-age=60');
        assert.equal(same.headers['age'], '3');
        assert.match(String(same.headers['date']), /GMT$/);
        assert.equal(same.headers['content-type'], undefined);
      }
    }
    const changed = await ask(app, { path: PATH, headers: { 'If-None-Match': '"other"' } });
    assert.equal(changed.status, 200);
    const posted = await post(app, PATH, '', { 'If-None-Match': etag });
    assert.equal(posted.status, 200);
  });
});

test('without keeping, every call runs, and an unchanged answer is still a 304', async () => {
  let count = 0;
  let releases = 0;
  const run: Run = async () => {
    count += 1;
    return { ...fakeAnswer([{ a: 1 }]), release: () => void releases++ };
  };
  await withApp({ run }, async (app) => {
    const path = '/api/endpoints/app.stats?project=p';
    const first = await ask(app, { path });
    assert.equal(first.headers['cache-status'], 'weir; fwd=bypass');
    assert.equal(first.headers['cache-control'], 'private, no-cache');
    assert.equal(first.headers['age'], undefined);
    const etag = String(first.headers['etag']);
    for (const method of ['GET', 'HEAD']) {
      const same = await ask(app, { path, method, headers: { 'If-None-Match': etag } });
      assert.equal(same.status, 304);
      assert.equal(same.headers['etag'], etag);
      assert.equal(same.headers['cache-control'], 'private, no-cache');
    }
    assert.equal(count, 3);
    assert.equal(releases, 3);
  });
});

test('a long answer is compressed as the caller prefers, with a tag for each form', async () => {
  const { run, count } = countingRun(20_000);
  await withCached({ run }, async (app) => {
    const plain = await askBytes(app, { path: PATH });
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(plain.headers['vary'], 'Authorization, X-API-KEY, Accept, Accept-Encoding');
    const tags = new Set([plain.headers['etag']]);
    for (const [encoding, open] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const headers = { 'Accept-Encoding': encoding };
      const answers = await Promise.all(
        [1, 2, 3].map(() => askBytes(app, { path: PATH, headers })),
      );
      for (const answer of answers) {
        assert.equal(answer.headers['content-encoding'], encoding);
        assert.equal(answer.headers['content-length'], String(answer.body.length));
        assert.equal(answer.headers['vary'], 'Authorization, X-API-KEY, Accept, Accept-Encoding');
        assert(answer.body.length < plain.body.length / 10);
        assert.deepEqual(open(answer.body), plain.body);
        tags.add(answer.headers['etag']);
      }
      const head = await ask(app, { path: PATH, method: 'HEAD', headers });
      assert.equal(head.headers['content-length'], String(answers[0]!.body.length));
      const etag = String(answers[0]!.headers['etag']);
      const same = await ask(app, { path: PATH, headers: { ...headers, 'If-None-Match': etag } });
      assert.equal(same.status, 304);
      assert.equal(same.headers['vary'], 'Authorization, X-API-KEY, Accept, Accept-Encoding');
      const elsewhere = await ask(app, { path: PATH, headers: { 'If-None-Match': etag } });
      assert.equal(elsewhere.status, 200, 'a compressed form is not the plain one');
    }
    assert.equal(tags.size, 3);
    assert.equal(count(), 1);
  });
});

test('a short answer is not compressed', async () => {
  await withCached({ run: echoRun }, async (app) => {
    const answer = await ask(app, { path: PATH, headers: { 'Accept-Encoding': 'gzip' } });
    assert.equal(answer.headers['content-encoding'], undefined);
    assert.equal(answer.headers['vary'], 'Authorization, X-API-KEY, Accept');
  });
});

test('calls during a run wait for it, and their headers say so', async () => {
  const finish: (() => void)[] = [];
  const run: Run = () =>
    new Promise((resolve) => {
      finish.push(() => resolve(fakeAnswer([])));
    });
  await withCached({ run }, async (app) => {
    const first = ask(app, { path: PATH });
    while (finish.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const others = [1, 2].map(() => ask(app, { path: PATH }));
    while (app.caller.stats().cache.collapsedCount < 2) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(finish.length, 1);
    finish[0]!();
    assert.equal((await first).headers['cache-status'], 'weir; fwd=miss; stored');
    for (const other of await Promise.all(others)) {
      assert.equal(other.headers['cache-status'], 'weir; fwd=miss; collapsed');
      assert.equal(other.headers['age'], '0');
      assert.match(String(other.headers['server-timing']), /^parse;dur=.*, cache;dur=[\d.]+$/);
    }
  });
});

test('a failure goes to its callers only and is not kept', async () => {
  let isBroken = true;
  const run: Run = async (...call) => {
    if (isBroken) throw new TypeError('broken');
    return echoRun(...call);
  };
  await withCached({ run }, async (app) => {
    const failed = await ask(app, { path: PATH });
    assert.equal(failed.status, 500);
    assert.equal(failed.headers['cache-control'], 'no-store');
    assert.equal(failed.headers['etag'], undefined);
    isBroken = false;
    assert.equal((await ask(app, { path: PATH })).status, 200);
  });
});

test('an answer that lacks rows is not kept, and an earlier complete one stays until it expires', async () => {
  let lostDays: readonly number[] = [];
  let count = 0;
  const run: Run = async () => ({ ...fakeAnswer([{ run: ++count }]), lostDays });
  await withCached({ run }, async (app, clock) => {
    const whole = await ask(app, { path: PATH });
    lostDays = [20_468];
    clock.ms += 20_000;
    await ask(app, { path: PATH });
    for (let tick = 1; tick <= 3; tick++) {
      app.caller.tick();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(count, 2, 'a renewal that lacks rows is not tried again at once');
    const kept = await ask(app, { path: PATH });
    assert.equal(kept.text, whole.text);
    assert.equal(kept.headers['weir-warnings'], undefined);
    clock.ms += 40_000;
    for (const expected of [3, 4]) {
      const lacking = await ask(app, { path: PATH });
      assert.deepEqual(lacking.json.result, [{ run: expected }]);
      assert.match(String(lacking.headers['weir-warnings']), /^rows or values .* of 2026-01-15$/);
      assert.equal(lacking.headers['cache-status'], 'weir; fwd=miss');
      assert.equal(lacking.headers['cache-control'], 'private, no-cache');
    }
  });
});
