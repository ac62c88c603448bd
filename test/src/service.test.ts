import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { must } from '../../engine/assert.ts';
import type { LogEntry } from '../../src/log.ts';
import { type Service, startService } from '../../src/service.ts';
import { parseSettings } from '../../src/settings.ts';
import { startMessage } from '../../src/start-message.ts';
import type { Backend } from '../../src/store/backend.ts';
import {
  ask,
  echoRun,
  fakeAnswer,
  fakeIntake,
  fakePrepare,
  fakePrepareInPieces,
  NO_EVENTS,
  NOTHING_EXPLORED,
  NOW_US,
  type Run,
  runningBy,
} from './harness.ts';

type Started = { service: Service; calls: string[]; entries: LogEntry[]; dataDir: string };

const CLOCK = { nowUs: () => NOW_US, monotonicMs: () => 0, wallMs: () => Date.now() };

function fakeBackend(calls: string[], run: Run = echoRun): Backend {
  return {
    engine: {
      prepare: fakePrepare,
      prepareInPieces: fakePrepareInPieces,
      queriesWaiting: 0,
      ...NOTHING_EXPLORED,
      ...runningBy(run),
    },
    intake: fakeIntake([]),
    published: NO_EVENTS,
    sources: {
      holdsEventsOf: () => false,
      add: () => {},
    },
    recover: async (nowUs) => {
      calls.push(`recover ${nowUs}`);
    },
    tick: () => calls.push('tick'),
    stats: () => {
      throw new Error('nobody asks for numbers here');
    },
    close: async () => {
      calls.push('close');
    },
  };
}

async function withService(
  options: { run?: Run; environment?: Record<string, string>; backend?: Partial<Backend> },
  work: (started: Started) => Promise<void>,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-'));
  const calls: string[] = [];
  const entries: LogEntry[] = [];
  const settings = parseSettings({ PORT: '0', DATA_DIR: dataDir, ...options.environment });
  const log = (entry: LogEntry): void => void entries.push(entry);
  const backend = { ...fakeBackend(calls, options.run), ...options.backend };
  try {
    const service = await startService({
      ...{ settings, clock: CLOCK, log },
      openBackend: () => backend,
    });
    try {
      await work({ service, calls, entries, dataDir });
    } finally {
      await service.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true });
  }
}

function portOf(service: Service): number {
  return Number(new URL(service.url).port);
}

test('it recovers, takes calls with the tokens it made, and closes its backend at the stop', async () => {
  await withService({}, async ({ service, calls, entries }) => {
    assert.deepEqual(calls, [`recover ${NOW_US}`]);
    const token = service.tokensMade.find(({ name }) => name === 'private')!.token;
    const path = '/api/endpoints/query/2034724d-89c8-43a9-aabc-52f7404f4bdd?project=p';
    const answer = await ask({ port: portOf(service) }, { path, headers: { 'X-API-KEY': token } });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.result[0].project, 'p');
    await service.stop();
    await service.stop();
    assert.equal(calls.filter((call) => call === 'close').length, 1);
    assert.deepEqual(
      entries.map(({ event }) => event),
      ['started', 'stopped'],
    );
    assert(!JSON.stringify(entries).includes(token));
    await assert.rejects(ask({ port: portOf(service) }, { path: '/health' }), /ECONNREFUSED/);
  });
});

test('the start message shows new tokens once', async () => {
  await withService({}, async ({ service, dataDir }) => {
    const settings = parseSettings({
      ...{ DATA_DIR: dataDir, FROZEN_NOW: '2026-01-15T12:00:00Z', MEMORY_LIMIT: '1.5GiB' },
    });
    const sources = fakeIntake([]).listSources();
    const message = startMessage({ version: '1.2.3', settings, sources, service });
    assert(message.startsWith(`weir 1.2.3 listens on ${service.url}\n`));
    for (const word of [dataDir, '1.5 GiB', 'logs.all', 'pgbouncer.logs.prod', '2026-01-15T12:']) {
      assert(message.includes(word), word);
    }
    for (const { token } of service.tokensMade) assert(message.includes(token));
    const { token } = must(service.tokensMade.find(({ name }) => name === 'private'));
    assert(message.includes(`\n${service.url}/#token=${token}\n`), message);
    const everywhere = { ...settings, host: '0.0.0.0' };
    const curl = startMessage({ version: '1.2.3', settings: everywhere, sources, service });
    const { host } = new URL(service.url);
    assert(curl.includes(`\ncurl -X POST 'http://${host}/api/logs?source_name=`), curl);
    const later = startMessage({
      version: '1.2.3',
      settings,
      sources,
      service: { ...service, tokensMade: [] },
    });
    assert.doesNotMatch(later, /token|ignored|profile/);
    const supabase = startMessage({
      version: '1.2.3',
      settings: { ...settings, profile: 'supabase' },
      sources,
      service,
      unneeded: ['DB_HOSTNAME', 'DB_PORT'],
    });
    assert.match(supabase, /\n {2}profile {4}supabase\n {2}ignored {4}DB_HOSTNAME, DB_PORT\n/);
  });
});

test('the start message warns of short tokens in the settings without showing them', async () => {
  await withService({}, async ({ service, dataDir }) => {
    const given = (length: number, name = 'PUBLIC_ACCESS_TOKEN'): string => {
      const token = 'k'.repeat(length);
      const settings = parseSettings({ DATA_DIR: dataDir, [name]: token });
      const message = startMessage({ version: '1.2.3', settings, sources: [], service });
      assert(!message.includes(token));
      return message;
    };
    assert.match(given(15), /\n {2}warning {4}PUBLIC_ACCESS_TOKEN has fewer than 16 characters/);
    assert.match(given(15, 'PRIVATE_ACCESS_TOKEN'), /\n {2}warning {4}PRIVATE_ACCESS_TOKEN has/);
    assert.doesNotMatch(given(16), /warning/);
  });
});

test('a stop waits for running calls, and accepts no more', async () => {
  let finish = (): void => {};
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const run: Run = () =>
    new Promise((resolve) => {
      finish = () => resolve(fakeAnswer([{ done: true }]));
      begin();
    });
  const environment = { PRIVATE_ACCESS_TOKEN: 'private-token' };
  await withService({ run, environment }, async ({ service, calls }) => {
    const port = portOf(service);
    const call = ask({ port }, { path: '/api/endpoints/logs.all?project=p' });
    await begun;
    const stopped = service.stop();
    // Connections of the first moment are still answered, so that none in the queue is reset.
    assert.equal((await ask({ port }, { path: '/health' })).status, 503);
    let reason = '';
    while (!reason.includes('ECONNREFUSED')) {
      await ask({ port }, { path: '/health' }).catch((error) => {
        reason = String(error);
      });
    }
    assert(!calls.includes('close'));
    finish();
    assert.deepEqual((await call).json, { result: [{ done: true }] });
    await stopped;
    assert.equal(calls.at(-1), 'close');
  });
});

test('callers that still wait at the end of a stop are told to retry', async () => {
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let signal: AbortSignal | undefined;
  const run: Run = (_query, options) => {
    signal = options.signal;
    begin();
    return new Promise(() => {});
  };
  const environment = { PRIVATE_ACCESS_TOKEN: 'private-token' };
  await withService({ run, environment }, async ({ service, calls }) => {
    const port = portOf(service);
    const call = ask({ port }, { path: '/api/endpoints/logs.all?project=p' });
    await begun;
    await service.stop();
    const { status, headers, json } = await call;
    assert.equal(status, 503);
    assert.equal(json.error.code, 'draining');
    assert.match(String(headers['retry-after']), /^[1-9]/);
    assert.equal(headers.connection, 'close');
    // The engine is told that no caller waits.
    assert.equal(signal?.aborted, true);
    assert.equal(calls.at(-1), 'close');
  });
});

test('a backend that does not close does not delay the end of the process, and keeps the folder locked', async () => {
  const close = (): Promise<void> => new Promise(() => {});
  await withService({ backend: { close } }, async ({ service, entries, dataDir }) => {
    await service.stop({ closeMsMax: 10 });
    assert.deepEqual(
      entries.map(({ event }) => event),
      ['started', 'work_left', 'stopped'],
    );
    // Its threads may still write to the folder.
    await readFile(join(dataDir, 'lock'));
  });
});

test('a stop waits for a slow backend, and then releases the folder', async () => {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  await withService({ backend: { close: () => ended } }, async ({ service, dataDir }) => {
    let isStopped = false;
    const stopped = service.stop().then(() => {
      isStopped = true;
    });
    await setTimeout(50);
    assert.equal(isStopped, false);
    await readFile(join(dataDir, 'lock'));
    end();
    await stopped;
    await assert.rejects(readFile(join(dataDir, 'lock')), { code: 'ENOENT' });
  });
});

test('a port in use fails the start with an explanation', async () => {
  await withService({}, async ({ service }) => {
    const PORT = String(portOf(service));
    await assert.rejects(
      withService({ environment: { PORT } }, async () => {}),
      { name: 'StartError', message: /cannot be used: another program uses it/ },
    );
  });
});

test('tokens of a failed start, which nobody saw, are replaced by the next start', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-'));
  const startWith = (backend: Backend): Promise<Service> =>
    startService({
      settings: parseSettings({ PORT: '0', DATA_DIR: dataDir }),
      ...{ clock: CLOCK, log: () => {}, openBackend: () => backend },
    });
  try {
    const failing = { ...fakeBackend([]), recover: () => Promise.reject(new Error('broken')) };
    await assert.rejects(startWith(failing), /broken/);
    const service = await startWith(fakeBackend([]));
    await service.stop();
    assert.deepEqual(
      service.tokensMade.map(({ name }) => name),
      ['private', 'public'],
    );
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

test('a connection that has sent nothing, or half of its headers, does not delay a stop', async () => {
  await withService({}, async ({ service }) => {
    const silent = connect(portOf(service), '127.0.0.1');
    const half = connect(portOf(service), '127.0.0.1');
    half.write('GET /health HTT');
    const ends = [once(silent, 'close'), once(half, 'close')];
    await ask({ port: portOf(service) }, { path: '/health' });
    const startMs = performance.now();
    await service.stop();
    await Promise.all(ends);
    // Far below the time that running answers may take.
    assert(performance.now() - startMs < 5_000);
  });
});

test('a missing data folder is created, and an unusable one fails the start', async () => {
  await withService({ environment: { PRIVATE_ACCESS_TOKEN: 'a' } }, async ({ dataDir }) => {
    const below = join(dataDir, 'deep', 'er');
    const environment = { PRIVATE_ACCESS_TOKEN: 'a', DATA_DIR: below };
    await withService({ environment }, async () => {
      assert((await stat(below)).isDirectory());
    });
    const file = join(dataDir, 'file');
    await writeFile(file, '');
    // Nothing can be made below /proc, where Node's recursive mkdir never returns.
    const noFolder = 'it, or a part of its path, is not a folder';
    for (const [DATA_DIR, reason] of [
      [file, noFolder],
      [join(file, 'x'), noFolder],
      ['/proc/weir/data', 'there is no such file or folder'],
    ] as const) {
      await assert.rejects(
        withService({ environment: { DATA_DIR } }, async () => {}),
        {
          name: 'StartError',
          message: `DATA_DIR must be a writable folder; ${DATA_DIR} cannot be used: ${reason}`,
        },
      );
    }
  });
});

test('a failed start closes what it opened', async () => {
  const calls: string[] = [];
  const backend: Backend = {
    ...fakeBackend(calls),
    recover: () => Promise.reject(new Error('the disk is broken')),
  };
  const settings = parseSettings({ PORT: '0', PRIVATE_ACCESS_TOKEN: 'a' });
  await assert.rejects(
    startService({ settings, clock: CLOCK, log: () => {}, openBackend: () => backend }),
    /the disk is broken/,
  );
  assert.deepEqual(calls, ['close']);
});
