import { deepEqual, equal, match } from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findStorePath } from '../../../ingest/data-folder.ts';
import { LockFile } from '../../../ingest/lock-file.ts';
import { openFileTokens } from '../../../src/access/tokens.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';
import { ServiceUnderTest, TOKEN } from '../../support/service-under-test.ts';

const NOW_US = Date.parse('2026-01-15T12:00:00Z') * 1000;

type Weir = (...words: string[]) => Promise<Ended>;

async function inFolder(work: (weir: Weir, dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-token-'));
  const environment = { DATA_DIR: dataDir };
  try {
    await work((...words) => runWeir(['token', ...words], { environment, nowUs: NOW_US }), dataDir);
  } finally {
    await rm(dataDir, { recursive: true });
  }
}

async function grantsOf(dataDir: string, token: string): Promise<unknown> {
  const storePath = await findStorePath(dataDir);
  const tokens = await openFileTokens(storePath, () => NOW_US / 1000);
  return tokens.find(token);
}

test('a token can be created before the first start, which then makes none', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-token-'));
  const environment = { DATA_DIR: join(folder, 'deep', 'data'), PORT: '0', WORKERS: '1' };
  const end = new AbortController();
  let status: Promise<number> | undefined;
  try {
    const words = ['token', 'create', 'admin', '--scopes', 'ingest,query,manage'];
    const made = await runWeir(words, { environment });
    deepEqual([made.status, made.err], [0, `in the data folder ${environment.DATA_DIR}\n`]);
    match(made.out, /^weir_[0-9A-Za-z]{49}\n$/);
    const { out, err } = await runWeir(['start'], {
      environment,
      ended: end.signal,
      seen: (written) => {
        const url = /"url":"(http:[^"]+)"/.exec(written)?.[1];
        if (url === undefined || status !== undefined) return;
        const headers = { 'X-API-KEY': made.out.trim() };
        status = fetch(`${url}/api/tokens`, { headers }).then((answer) => answer.status);
        void status.finally(() => end.abort());
      },
    });
    equal(await status, 200, err);
    equal(out.includes('token_made'), false);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('tokens of a stopped service are created, listed and revoked in its folder', async () => {
  await inFolder(async (weir, dataDir) => {
    const words = [
      'reader',
      '--scopes',
      'query',
      '--projects',
      'alpha, beta',
      '--expires-at',
      '2027-01-01',
    ];
    const made = await weir('create', ...words);
    deepEqual([made.status, made.err], [0, `in the data folder ${dataDir}\n`]);
    match(made.out, /^weir_[0-9A-Za-z]{49}\n$/);
    const token = made.out.trim();
    const grant = (await grantsOf(dataDir, token)) as { id: string };
    deepEqual(grant, {
      id: grant.id,
      name: 'reader',
      scopes: ['query'],
      projects: ['alpha', 'beta'],
      sources: 'all',
      endpoints: 'all',
      defaultSource: undefined,
      expiresMs: Date.parse('2027-01-01T00:00:00Z'),
    });
    // The command has released its lock.
    const names = await readdir(await findStorePath(dataDir));
    deepEqual(names.sort(), ['tokens.json', 'tokens.json.copy']);
    const listed = await weir('list');
    equal(
      listed.out,
      [
        `name    scopes  bound to              expires                   id`,
        `──────  ──────  ────────────────────  ────────────────────────  ${'─'.repeat(36)}`,
        `reader  query   projects alpha, beta  2027-01-01T00:00:00.000Z  ${grant.id}`,
        '',
      ].join('\n'),
    );
    const json = await weir('list', '--json');
    deepEqual(JSON.parse(json.out)[0].projects, ['alpha', 'beta']);
    equal((await weir('revoke', 'reader')).out, 'reader is revoked\n');
    equal(await grantsOf(dataDir, token), undefined);
    equal((await weir('list')).out, 'no tokens\n');
    const again = await weir('revoke', 'reader');
    deepEqual(
      [again.status, again.err],
      [1, `there is no token "reader" in the data folder ${dataDir}\n`],
    );
  });
});

test('a folder in use is not changed, and the message says how to ask the service', async () => {
  await inFolder(async (weir, dataDir) => {
    await weir('create', 'reader', '--scopes', 'query');
    const before = await readFile(join(await findStorePath(dataDir), 'tokens.json'), 'utf8');
    const lock = await LockFile.take(join(dataDir, 'lock'), NOW_US);
    try {
      for (const words of [
        ['create', 'other', '--scopes', 'query'],
        ['revoke', 'reader'],
      ]) {
        const { status, err } = await weir(...words);
        equal(status, 1);
        match(err, /in use.*ask it: --url URL/s);
      }
      match((await weir('list')).out, /reader/);
    } finally {
      await lock.release();
    }
    equal(await readFile(join(await findStorePath(dataDir), 'tokens.json'), 'utf8'), before);
  });
});

test('--url asks a running service', async () => {
  const service = await ServiceUnderTest.start();
  const environment = { PRIVATE_ACCESS_TOKEN: TOKEN };
  const weir: Weir = (...words) =>
    runWeir(['token', ...words, '--url', service.url], { environment, nowUs: NOW_US });
  try {
    const made = await weir('create', 'reader', '--scopes', 'query', '--endpoints', 'logs.all');
    deepEqual([made.status, made.err], [0, '']);
    const path = '/api/endpoints/logs.all?project=alpha';
    const headers = { 'X-API-KEY': made.out.trim() };
    equal((await service.ask('GET', path, undefined, headers)).status, 200);
    const { out } = await weir('list');
    match(out, /^private +ingest, query, manage +– +– +of the settings$/m);
    match(out, /^reader +query +endpoints logs\.all +– +[0-9a-f-]{36}$/m);
    const taken = await weir('create', 'reader', '--scopes', 'query');
    deepEqual([taken.status, taken.err], [1, 'there is a token "reader" already\n']);
    const wrong = await weir('create', 'other', '--scopes', 'all');
    deepEqual([wrong.status, wrong.out], [2, '']);
    match(wrong.err, /^scopes must be a list of any of/);
    equal((await weir('revoke', 'reader')).status, 0);
    equal((await service.ask('GET', path, undefined, headers)).status, 401);
    const settings = await weir('revoke', 'private');
    equal(settings.status, 1);
    match(settings.err, /private comes from the settings/);
  } finally {
    await service.stop();
  }
});

test('without a flag, the service that answers is asked, and the answer names it', async () => {
  const service = await ServiceUnderTest.start();
  const at = new URL(service.url);
  const address = { HOST: at.hostname, PORT: at.port };
  const weir = (environment: Readonly<Record<string, string>>, ...words: string[]) =>
    runWeir(['token', ...words], { environment: { ...address, ...environment }, nowUs: NOW_US });
  const words = ['create', 'reader', '--scopes', 'query'];
  try {
    const made = await weir({ PRIVATE_ACCESS_TOKEN: TOKEN }, ...words);
    deepEqual([made.status, made.err], [0, `at the service ${service.url}\n`]);
    const unset = await weir({}, ...words);
    deepEqual([unset.status, unset.out], [1, '']);
    equal(
      unset.err,
      `PRIVATE_ACCESS_TOKEN must hold a token with the scope manage, as a service answers at ${service.url}; it is not set\n`,
    );
    await inFolder(async (_, dataDir) => {
      const elsewhere = { PRIVATE_ACCESS_TOKEN: TOKEN, DATA_DIR: dataDir };
      const inItsFolder = await weir(elsewhere, ...words);
      deepEqual([inItsFolder.status, inItsFolder.err], [0, `in the data folder ${dataDir}\n`]);
      const lock = await LockFile.take(join(dataDir, 'lock'), NOW_US);
      try {
        const inUse = await weir(elsewhere, 'list');
        deepEqual([inUse.status, inUse.err], [0, `at the service ${service.url}\n`]);
        match(inUse.out, /^private /m);
      } finally {
        await lock.release();
      }
    });
  } finally {
    await service.stop();
  }
});

test('a data folder that nobody named is never made', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-token-'));
  const before = process.cwd();
  // The port 1 is none that a service has.
  const weir = (...words: string[]) => runWeir(['token', ...words], { environment: { PORT: '1' } });
  const words = ['create', 'reader', '--scopes', 'query'];
  try {
    process.chdir(folder);
    for (const each of [words, ['list']]) {
      const { status, out, err } = await weir(...each);
      deepEqual([status, out], [1, '']);
      match(
        err,
        /^no service answers at http:\/\/127\.0\.0\.1:1, and there is no folder .*\/data\./,
      );
      match(err, /--url URL, .* --data-dir DIR/);
    }
    deepEqual(await readdir(folder), []);
    const made = await weir(...words, '--data-dir', './data');
    deepEqual([made.status, made.err], [0, '']);
    const listed = await weir('list');
    deepEqual(
      [listed.status, listed.err],
      [0, `in the data folder ${join(process.cwd(), 'data')}\n`],
    );
    match(listed.out, /^reader /m);
  } finally {
    process.chdir(before);
    await rm(folder, { recursive: true });
  }
});

test('usage errors end with 2 and an explanation', async () => {
  await inFolder(async (weir, dataDir) => {
    for (const [words, message] of [
      [[], /followed by create, list, limit or revoke; got nothing\n/],
      [['make', 'a'], /got "make"/],
      [['create'], /followed by the name of one token; got nothing/],
      [['create', 'a', 'b', '--scopes', 'query'], /got "a", "b"/],
      [['create', 'a'], /scopes must be a list of any of/],
      [['create', 'a', '--scopes', 'all'], /scopes must be a list of any of/],
      [['create', 'a', '--scopes', 'manage', '--projects', 'x'], /cannot be bound/],
      [
        ['create', 'a', '--scopes', 'query', '--sources', 'nowhere'],
        /there is no source "nowhere"/,
      ],
      [['list', 'a'], /list takes no arguments; got "a"/],
      [['list', '--scopes', 'query'], /--scopes is for create/],
      [['revoke', 'a', '--projects', 'x'], /--projects is for create/],
      [['list', '--url', 'ftp://here'], /--url must be the address/],
      [['list', '--url', 'http://a', '--data-dir', dataDir], /not both/],
    ] as const) {
      const { status, err, out } = await weir(...words);
      deepEqual([status, out], [2, ''], `${words.join(' ')}: ${err}`);
      match(err, message);
    }
    const unset = await weir('list', '--url', 'http://127.0.0.1:1');
    deepEqual([unset.status, unset.out], [1, '']);
    match(unset.err, /PRIVATE_ACCESS_TOKEN must hold/);
    const nowhere = await weir('list', '--data-dir', join(dataDir, 'nowhere'));
    deepEqual([nowhere.status, nowhere.out], [1, '']);
    match(nowhere.err, /there is no folder/);
  });
});

test('quotas are given, listed, changed and removed', async () => {
  await inFolder(async (weir) => {
    const quota = ['--events-per-day', '1000', '--bytes-per-day', '10GB', '--stored-bytes', '1TB'];
    equal((await weir('create', 'shop', '--scopes', 'ingest', ...quota)).status, 0);
    match(
      (await weir('list')).out,
      / {2}1000 events, 10000000000 bytes {2}1000000000000 bytes {2}/,
    );
    const changed = await weir('limit', 'shop', '--events-per-day', '5', '--bytes-per-day', 'none');
    equal(changed.out, 'shop: 5 events a day, 1000000000000 bytes stored\n');
    const none = ['--events-per-day', 'none', '--stored-bytes', 'none'];
    equal((await weir('limit', 'shop', ...none)).out, 'shop: –\n');
    for (const words of [
      ['limit', 'shop'],
      ['limit', 'shop', '--events-per-day', '0'],
      ['limit', 'shop', '--bytes-per-day', 'much'],
      ['limit', 'shop', '--stored-bytes', '0'],
      ['limit', 'shop', '--events-per-day', '1', '--scopes', 'query'],
      ['create', 'other', '--scopes', 'query', '--events-per-day', '1'],
      ['create', 'other', '--scopes', 'ingest', '--events-per-day', 'none'],
      ['list', '--events-per-day', '1'],
    ]) {
      equal((await weir(...words)).status, 2, words.join(' '));
    }
    equal((await weir('limit', 'nobody', '--events-per-day', '1')).status, 1);
  });
});

test('a running service changes a quota and shows its use, also after a restart', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-token-'));
  const start = () => ServiceUnderTest.start({ DATA_DIR: dataDir });
  let service = await start();
  try {
    const weir = (...words: string[]) => {
      const environment = { PRIVATE_ACCESS_TOKEN: TOKEN };
      return runWeir(['token', ...words, '--url', service.url], { environment, nowUs: NOW_US });
    };
    const postWith = async (token: string) => {
      const posted = await fetch(`${service.url}/api/logs?source_name=postgres.logs`, {
        method: 'POST',
        headers: { 'X-API-KEY': token.trim(), 'Content-Type': 'application/json' },
        body: '[{"event_message":"a"},{"event_message":"b"}]',
      });
      return posted.status;
    };
    const { out: token } = await weir(
      'create',
      'shop',
      '--scopes',
      'ingest',
      '--events-per-day',
      '9',
    );
    equal(await postWith(token), 200);
    match((await weir('list')).out, / {2}2 of 9 events {2}/);
    const limits = ['--bytes-per-day', '1KB', '--stored-bytes', '30'];
    equal((await weir('limit', 'shop', ...limits)).status, 0);
    equal(await postWith(token), 200);
    equal(await postWith(token), 429);
    await service.stop();
    service = await start();
    match((await weir('list')).out, / {2}4 of 9 events, 90 of 1000 bytes {2}45 of 30 bytes {2}/);
  } finally {
    await service.stop();
    await rm(dataDir, { recursive: true });
  }
});
