import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Grant } from '../../../src/access/grant.ts';
import type { TokenOrder } from '../../../src/access/token-order.ts';
import { openTokens, type Tokens } from '../../../src/access/tokens.ts';

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const NOW_MS = Date.parse('2026-01-15T12:00:00Z');
const CLOCK = { wallMs: () => NOW_MS };
const NONE = { publicAccessToken: undefined, privateAccessToken: undefined, ...CLOCK };
const PRIVATE = { ...NONE, privateAccessToken: 'secret' };
const ORDER: TokenOrder = { name: 'reader', scopes: ['query'] };

function mustGrant(tokens: Tokens, token: string): Grant {
  const grant = tokens.find(token);
  assert(grant !== undefined && grant !== 'expired');
  return grant;
}

test('without tokens the first start makes two, and keeps only their hashes', async () => {
  await withFolder(async (folder) => {
    const dataDir = join(folder, 'data', 'deep');
    const { tokens, made } = await openTokens({ dataDir, ...NONE });
    assert.deepEqual(
      made.map(({ name, scopes }) => [name, scopes]),
      [
        ['private', ['ingest', 'query', 'manage']],
        ['public', ['ingest']],
      ],
    );
    assert.deepEqual(await readdir(dataDir), ['tokens.json']);
    const text = await readFile(join(dataDir, 'tokens.json'), 'utf8');
    for (const { id, name, token, scopes } of made) {
      assert.match(token, /^weir_[0-9A-Za-z]{49}$/);
      assert(!text.includes(token));
      assert(text.includes(createHash('sha256').update(token).digest('hex')));
      const all = { projects: 'all', sources: 'all', endpoints: 'all' };
      const grant = { id, name, scopes, ...all, defaultSource: undefined, expiresMs: undefined };
      assert.deepEqual(tokens.find(token), grant);
    }
    assert.equal((await stat(join(dataDir, 'tokens.json'))).mode & 0o777, 0o600);
  });
});

test('the second start knows the same tokens and makes none', async () => {
  await withFolder(async (dataDir) => {
    const first = await openTokens({ dataDir, ...NONE });
    const second = await openTokens({ dataDir, ...NONE });
    assert.deepEqual(second.made, []);
    for (const { token, name } of first.made) {
      assert.equal(mustGrant(second.tokens, token).name, name);
    }
    assert.equal(second.tokens.find(`${first.made[0]!.token}x`), undefined);
    assert.equal(second.tokens.find(''), undefined);
  });
});

test('with a token in the settings no file is made and no other token counts', async () => {
  await withFolder(async (dataDir) => {
    const { tokens, made } = await openTokens({ dataDir, ...PRIVATE });
    assert.deepEqual(made, []);
    assert.deepEqual(await readdir(dataDir), []);
    assert.equal(mustGrant(tokens, 'secret').name, 'private');
    assert.equal(tokens.find('other'), undefined);
  });
});

test('tokens that were made count beside those of the settings, now and after a start', async () => {
  await withFolder(async (dataDir) => {
    const { tokens } = await openTokens({ dataDir, ...PRIVATE });
    const order = { ...ORDER, projects: ['alpha'], sources: ['postgres.logs'] };
    const { id, token } = await tokens.create(order);
    const again = await openTokens({ dataDir, ...PRIVATE });
    for (const known of [tokens, again.tokens]) {
      const grant = mustGrant(known, token);
      assert.deepEqual(
        [grant.id, grant.name, grant.scopes, grant.projects, grant.sources, grant.endpoints],
        [id, 'reader', ['query'], ['alpha'], ['postgres.logs'], 'all'],
      );
      assert.deepEqual(
        known.list().map(({ name, from }) => [name, from]),
        [
          ['private', 'settings'],
          ['reader', 'file'],
        ],
      );
      assert(!JSON.stringify(known.list()).includes('sha256'));
      assert.equal(mustGrant(known, 'secret').name, 'private');
    }
    const text = await readFile(join(dataDir, 'tokens.json'), 'utf8');
    assert(!text.includes(token) && !text.includes('secret'));
    assert.equal((await stat(join(dataDir, 'tokens.json'))).mode & 0o777, 0o600);
  });
});

test('a token that was revoked opens nothing any more, now and after a start', async () => {
  await withFolder(async (dataDir) => {
    const { tokens } = await openTokens({ dataDir, ...PRIVATE });
    const [first, second] = await Promise.all([
      tokens.create(ORDER),
      tokens.create({ ...ORDER, name: 'other' }),
    ]);
    const [one, two] = [mustGrant(tokens, first.token), mustGrant(tokens, second.token)];
    assert(tokens.stillGrants(one));
    await tokens.revoke(first.id);
    assert.deepEqual(
      [one, two].map((grant) => tokens.stillGrants(grant)),
      [false, true],
    );
    const again = await openTokens({ dataDir, ...PRIVATE });
    for (const known of [tokens, again.tokens]) {
      assert.equal(known.find(first.token), undefined);
      assert.equal(mustGrant(known, second.token).name, 'other');
      assert.throws(() => known.mustFindById(first.id), { code: 'unknown_token' });
    }
    await assert.rejects(tokens.revoke(first.id), { code: 'unknown_token' });
    // Its name is free again.
    await tokens.create(ORDER);
  });
});

test('names are unique, and tokens of the settings stay', async () => {
  await withFolder(async (dataDir) => {
    const { tokens } = await openTokens({ dataDir, ...PRIVATE });
    await tokens.create(ORDER);
    await assert.rejects(tokens.create(ORDER), {
      code: 'token_conflict',
      message: 'there is a token "reader" already',
    });
    await assert.rejects(tokens.create({ ...ORDER, name: 'private' }), { code: 'token_conflict' });
    await assert.rejects(tokens.revoke('settings-private'), {
      code: 'token_conflict',
      message: /private is one of the settings/,
    });
    assert.equal(mustGrant(tokens, 'secret').name, 'private');
  });
});

test('a token ends at its time, to the millisecond', async () => {
  await withFolder(async (dataDir) => {
    const clock = { ms: NOW_MS };
    const options = { ...PRIVATE, dataDir, wallMs: () => clock.ms };
    const { tokens } = await openTokens(options);
    const { token } = await tokens.create({ ...ORDER, expires_at: '2026-01-15T12:00:01.000Z' });
    const again = await openTokens(options);
    for (const known of [tokens, again.tokens]) {
      clock.ms = NOW_MS + 999;
      const grant = mustGrant(known, token);
      assert.equal(known.stillGrants(grant), true);
      clock.ms = NOW_MS + 1000;
      assert.equal(known.find(token), 'expired');
      assert.equal(known.stillGrants(grant), false);
    }
  });
});

test('a change that cannot be written is none', async () => {
  await withFolder(async (dataDir) => {
    const { tokens } = await openTokens({ dataDir, ...PRIVATE });
    const { id, token } = await tokens.create(ORDER);
    await mkdir(join(dataDir, 'tokens.json.new'));
    await assert.rejects(tokens.revoke(id), { code: 'storage_failed' });
    await assert.rejects(tokens.create({ ...ORDER, name: 'b' }), { code: 'storage_failed' });
    assert.equal(mustGrant(tokens, token).name, 'reader');
    assert.equal(tokens.list().length, 2);
    await rm(join(dataDir, 'tokens.json.new'), { recursive: true });
    await tokens.revoke(id);
    assert.equal(tokens.find(token), undefined);
  });
});

/** As version 1 wrote it. */
const OLD = `{"version":1,"tokens":[{"name":"old","scopes":["query"],"sha256":"${createHash('sha256').update('an old token').digest('hex')}"}]}`;

test('a file of version 1 is written anew, with the same tokens', async () => {
  await withFolder(async (dataDir) => {
    await writeFile(join(dataDir, 'tokens.json'), OLD);
    const { tokens, made } = await openTokens({ dataDir, ...NONE });
    assert.deepEqual(made, []);
    const { id } = mustGrant(tokens, 'an old token');
    assert.match(await readFile(join(dataDir, 'tokens.json'), 'utf8'), /"version": 2/);
    const again = await openTokens({ dataDir, ...NONE });
    assert.equal(mustGrant(again.tokens, 'an old token').id, id);
  });
});

test('tokens of a file of version 1 did not count beside the settings, and do not', async () => {
  await withFolder(async (dataDir) => {
    await writeFile(join(dataDir, 'tokens.json'), OLD);
    const { tokens } = await openTokens({ dataDir, ...PRIVATE });
    assert.equal(tokens.find('an old token'), undefined);
    assert.equal(await readFile(join(dataDir, 'tokens.json'), 'utf8'), OLD);
  });
});

for (const text of [
  '',
  '{"version":1,"tokens":[]}',
  '{"version":2}',
  '{"version":3,"tokens":[]}',
  '[',
  '{"version":1,"tokens":[{"name":"a","scopes":["all"],"sha256":"0"}]}',
  '{"version":2,"tokens":[{"id":"1","name":"a","scopes":["query"],"sha256":"0"}]}',
  `{"version":2,"tokens":[{"id":"1","name":"a","scopes":["query"],"projects":[],"sha256":"${'0'.repeat(64)}"}]}`,
  `{"version":2,"tokens":[{"id":"1","name":"a","scopes":["query"],"project":["a"],"sha256":"${'0'.repeat(64)}"}]}`,
]) {
  test(`a token file that holds ${JSON.stringify(text)} stops the start`, async () => {
    await withFolder(async (dataDir) => {
      await writeFile(join(dataDir, 'tokens.json'), text);
      await assert.rejects(openTokens({ dataDir, ...NONE }), {
        name: 'StartError',
        message: /tokens\.json must be .* damaged/,
      });
    });
  });
}

test('a token file that cannot be read or written stops the start with its path and the reason', async () => {
  await withFolder(async (dataDir) => {
    await mkdir(join(dataDir, 'tokens.json'));
    await assert.rejects(openTokens({ dataDir, ...NONE }), {
      name: 'StartError',
      message: /tokens\.json cannot be read: EISDIR/,
    });
    await mkdir(join(dataDir, 'deep', 'tokens.json.new'), { recursive: true });
    await assert.rejects(openTokens({ dataDir: join(dataDir, 'deep'), ...NONE }), {
      name: 'StartError',
      message: /tokens\.json cannot be written: EISDIR/,
    });
  });
});
