import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Grant } from '../../../src/access/grant.ts';
import type { TokenOrder } from '../../../src/access/token-order.ts';
import {
  type KnownToken,
  openFileTokens,
  openTokens,
  type Tokens,
} from '../../../src/access/tokens.ts';
import { StartError } from '../../../src/start-error.ts';
import { fuzzSeed } from '../../fuzz/seed.ts';
import { budgetOf } from '../../support/budget.ts';

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

test('without tokens, the first start makes two and stores only their hashes', async () => {
  await withFolder(async (dataDir) => {
    const { tokens, made } = await openTokens({ dataDir, ...NONE });
    assert.deepEqual(
      made.map(({ name, scopes }) => [name, scopes]),
      [
        ['private', ['ingest', 'query', 'manage']],
        ['public', ['ingest']],
      ],
    );
    assert.deepEqual((await readdir(dataDir)).sort(), ['tokens.json', 'tokens.json.copy']);
    const text = await readFile(join(dataDir, 'tokens.json'), 'utf8');
    for (const { id, name, token, scopes } of made) {
      assert.match(token, /^weir_[0-9A-Za-z]{49}$/);
      assert(!text.includes(token));
      assert(text.includes(createHash('sha256').update(token).digest('hex')));
      const all = { projects: 'all', sources: 'all', endpoints: 'all' };
      // Whoever manages may explore, without a word about it in the file.
      const granted = name === 'private' ? ['ingest', 'query', 'explore', 'manage'] : scopes;
      const grant = {
        id,
        name,
        scopes: granted,
        ...all,
        defaultSource: undefined,
        expiresMs: undefined,
      };
      assert.deepEqual(tokens.find(token), grant);
    }
    for (const name of await readdir(dataDir)) {
      assert.equal((await stat(join(dataDir, name))).mode & 0o777, 0o600);
    }
  });
});

test('the second start finds the same tokens and makes none', async () => {
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

test('with a token in the settings, no file is made and no other token is valid', async () => {
  await withFolder(async (dataDir) => {
    const { tokens, made } = await openTokens({ dataDir, ...PRIVATE });
    assert.deepEqual(made, []);
    assert.deepEqual(await readdir(dataDir), []);
    assert.equal(mustGrant(tokens, 'secret').name, 'private');
    assert.equal(tokens.find('other'), undefined);
  });
});

test('generated tokens are valid beside those of the settings, at once and after a restart', async () => {
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

test('a revoked token is refused, at once and after a restart', async () => {
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

test('names are unique, and tokens of the settings cannot be removed', async () => {
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
      message: /private comes from the settings/,
    });
    assert.equal(mustGrant(tokens, 'secret').name, 'private');
  });
});

test('a token expires at its time, to the millisecond', async () => {
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

test('a change that cannot be written has no effect', async () => {
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

/** A file of version 1. */
const OLD = `{"version":1,"tokens":[{"name":"old","scopes":["query","manage"],"sha256":"${createHash('sha256').update('an old token').digest('hex')}"}]}`;

test('a file of version 1 is rewritten with the same tokens', async () => {
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

test('tokens of a version 1 file that settings overrode stay invalid', async () => {
  await withFolder(async (dataDir) => {
    await writeFile(join(dataDir, 'tokens.json'), OLD);
    const { tokens } = await openTokens({ dataDir, ...PRIVATE });
    assert.equal(tokens.find('an old token'), undefined);
    assert.equal(await readFile(join(dataDir, 'tokens.json'), 'utf8'), OLD);
  });
});

/** With a token of the settings for everything, for posts, or both. */
function settingsOf(given: { readonly private?: string; readonly public?: string }) {
  return { ...NONE, privateAccessToken: given.private, publicAccessToken: given.public };
}

/** The names of the tokens that a start makes, revokes and knows in its file. */
async function startWith(
  dataDir: string,
  settings: ReturnType<typeof settingsOf>,
): Promise<{ made: string[]; replaced: readonly string[]; kept: string[]; tokens: Tokens }> {
  const { tokens, made, replaced } = await openTokens({ dataDir, ...settings });
  const ofFile = tokens.list().filter(({ from }) => from === 'file');
  const names = (of: readonly { readonly name: string }[]) => of.map(({ name }) => name).sort();
  return { made: names(made), replaced, kept: names(ofFile), tokens };
}

test('a token of the settings permanently revokes the generated token of its name', async () => {
  await withFolder(async (dataDir) => {
    const first = await openTokens({ dataDir, ...NONE });
    const [ofAll, ofPosts] = [first.made[0]!.token, first.made[1]!.token];
    const given = await startWith(dataDir, settingsOf({ private: 'new' }));
    assert.deepEqual([given.made, given.replaced, given.kept], [[], ['private'], ['public']]);
    assert.equal(given.tokens.find(ofAll), undefined);
    assert.equal(mustGrant(given.tokens, ofPosts).name, 'public');
    const again = await startWith(dataDir, settingsOf({ private: 'new' }));
    assert.deepEqual([again.made, again.replaced, again.kept], [[], [], ['public']]);
    // Without the setting, nobody could manage: a new token is made, and the old one stays revoked.
    const without = await startWith(dataDir, NONE);
    assert.deepEqual([without.made, without.kept], [['private'], ['private', 'public']]);
    for (const old of [ofAll, 'new']) assert.equal(without.tokens.find(old), undefined);
    const last = await startWith(dataDir, NONE);
    assert.deepEqual([last.made, last.kept], [[], ['private', 'public']]);
    const posts = await startWith(dataDir, settingsOf({ public: 'posts' }));
    assert.deepEqual([posts.made, posts.replaced, posts.kept], [[], ['public'], ['private']]);
    assert.equal(posts.tokens.find(ofPosts), undefined);
    // Another token can manage and make further ones.
    assert.deepEqual((await startWith(dataDir, NONE)).made, []);
  });
});

test('a token of the settings equal to the generated one revokes nothing', async () => {
  await withFolder(async (dataDir) => {
    const { made } = await openTokens({ dataDir, ...NONE });
    const { token } = made[0]!;
    const given = await startWith(dataDir, settingsOf({ private: token }));
    assert.deepEqual([given.replaced, mustGrant(given.tokens, token).name], [[], 'private']);
    const without = await startWith(dataDir, NONE);
    assert.deepEqual([without.made, mustGrant(without.tokens, token).name], [[], 'private']);
  });
});

test('tokens made by users are never revoked by the settings, whatever their names', async () => {
  await withFolder(async (dataDir) => {
    const { tokens } = await openTokens({ dataDir, ...PRIVATE });
    await tokens.create({ name: 'admin', scopes: ['ingest', 'query', 'manage'] });
    await tokens.create({ name: 'public', scopes: ['ingest'], projects: ['alpha'] });
    const started = await startWith(dataDir, settingsOf({ private: 'a', public: 'b' }));
    assert.deepEqual([started.replaced, started.kept], [[], ['admin', 'public']]);
  });
});

test('a start makes tokens only if none may manage the service, and only for free names', async () => {
  const manager: TokenOrder = { name: 'admin', scopes: ['manage'] };
  const expiresAt = (ms: number): string => new Date(ms).toISOString();
  for (const [order, settings, made] of [
    [manager, NONE, []],
    [{ ...manager, expires_at: expiresAt(NOW_MS + 1) }, NONE, []],
    [{ ...manager, expires_at: expiresAt(NOW_MS) }, NONE, ['private', 'public']],
    [{ ...ORDER, name: 'public' }, NONE, ['private']],
    [ORDER, settingsOf({ public: 'posts' }), ['private']],
    [ORDER, PRIVATE, []],
  ] as const) {
    await withFolder(async (dataDir) => {
      const before = await openFileTokens(dataDir, () => NOW_MS - 1);
      await before.create(order);
      assert.deepEqual((await startWith(dataDir, settings)).made, made, JSON.stringify(order));
      assert.deepEqual((await startWith(dataDir, settings)).made, []);
    });
  }
});

test('a token of the settings also revokes the generated one of a version 1 file', async () => {
  await withFolder(async (dataDir) => {
    const old = OLD.replace('"old"', '"private"').replace('["query"', '["ingest","query"');
    await writeFile(join(dataDir, 'tokens.json'), old);
    const given = await startWith(dataDir, PRIVATE);
    assert.deepEqual([given.replaced, given.kept], [['private'], []]);
    const without = await startWith(dataDir, NONE);
    assert.equal(without.tokens.find('an old token'), undefined);
    assert.deepEqual(without.made, ['private', 'public']);
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

test('a token file that cannot be read or written fails the start with its path and the reason', async () => {
  await withFolder(async (dataDir) => {
    await mkdir(join(dataDir, 'tokens.json'));
    await assert.rejects(openTokens({ dataDir, ...NONE }), {
      name: 'StartError',
      message: /tokens\.json cannot be read: it is a folder$/,
    });
    await mkdir(join(dataDir, 'deep', 'tokens.json.new'), { recursive: true });
    await assert.rejects(openTokens({ dataDir: join(dataDir, 'deep'), ...NONE }), {
      name: 'StartError',
      message: /tokens\.json cannot be written: it is a folder$/,
    });
  });
});

/** One in so many bits of the token file is flipped, of the next commit others; 1 is the long form. */
const FLIP_STEP = budgetOf('WEIR_TOKEN_FLIP_STEP', { fast: 151, all: 11 });

/** The tokens that a start finds; `undefined` if it fails. */
async function startedWith(dataDir: string): Promise<readonly KnownToken[] | undefined> {
  try {
    const { tokens } = await openTokens({ dataDir, ...NONE });
    return tokens.list();
  } catch (error) {
    assert.ok(error instanceof StartError && /damaged/.test(error.message), String(error));
    return undefined;
  }
}

test('law: after any flipped bit in the token files, a start finds the same tokens or is refused', async (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats the choice of bits`);
  await withFolder(async (dataDir) => {
    const { tokens } = await openTokens({ dataDir, ...NONE });
    await tokens.create({ ...ORDER, projects: ['alpha'], expires_at: '2031-01-01T00:00:00Z' });
    const revoked = await tokens.create({ ...ORDER, name: 'revoked' });
    await tokens.revoke(revoked.id);
    const known = tokens.list();
    const paths = [join(dataDir, 'tokens.json'), join(dataDir, 'tokens.json.copy')] as const;
    const whole = await readFile(paths[0]);
    for (let bit = seed % FLIP_STEP; bit < whole.length * 8; bit += FLIP_STEP) {
      const flipped = Buffer.from(whole);
      flipped[bit >>> 3]! ^= 1 << (bit & 7);
      const path = paths[bit % 2]!;
      await writeFile(path, flipped);
      assert.deepEqual(await startedWith(dataDir), known, `bit ${bit} of ${path}`);
      assert.deepEqual(await readFile(paths[0]), await readFile(paths[1]), 'it is repaired');
      for (const each of paths) await writeFile(each, flipped);
      assert.equal(await startedWith(dataDir), undefined, `bit ${bit} of both`);
      await rm(paths[1]);
      assert.equal(await startedWith(dataDir), undefined, `bit ${bit} without a copy`);
      for (const each of paths) await writeFile(each, whole);
    }
  });
});

test('a missing token file is restored from its copy, and this is reported', async () => {
  await withFolder(async (dataDir) => {
    const first = await openTokens({ dataDir, ...NONE });
    assert.equal(first.isRepaired, false);
    await rm(join(dataDir, 'tokens.json'));
    const second = await openTokens({ dataDir, ...NONE });
    assert.deepEqual([second.made, second.isRepaired], [[], true]);
    assert.deepEqual(second.tokens.list(), first.tokens.list());
    assert.equal((await openTokens({ dataDir, ...NONE })).isRepaired, false);
  });
});

test('a token file without a checksum is read and gets a checksum and a copy', async () => {
  await withFolder(async (dataDir) => {
    const { tokens } = await openTokens({ dataDir, ...NONE });
    const path = join(dataDir, 'tokens.json');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.slice(text.indexOf('{')));
    await rm(`${path}.copy`);
    const again = await openTokens({ dataDir, ...NONE });
    assert.deepEqual(again.tokens.list(), tokens.list());
    assert.equal(again.isRepaired, false);
    const written = await readFile(path, 'utf8');
    assert.match(written, /^[0-9a-f]{64} \{/);
    assert.equal(await readFile(`${path}.copy`, 'utf8'), written);
  });
});

test('a changed quota survives a restart and does not end open requests', async () => {
  await withFolder(async (dataDir) => {
    const { tokens } = await openTokens({ dataDir, ...NONE });
    const order: TokenOrder = { name: 'shop', scopes: ['ingest'], events_per_day: 10 };
    const { id, token } = await tokens.create(order);
    const grant = mustGrant(tokens, token);
    assert.deepEqual(tokens.findQuota(id), {
      events: 10,
      bytes: undefined,
      stored_bytes: undefined,
    });
    await tokens.changeQuota(id, { bytes_per_day: 500 });
    assert.deepEqual(tokens.findQuota(id), { events: 10, bytes: 500, stored_bytes: undefined });
    const changed = await tokens.changeQuota(id, { events_per_day: null });
    assert.deepEqual([changed.events_per_day, changed.bytes_per_day], [undefined, 500]);
    assert(tokens.stillGrants(grant));
    const { tokens: later } = await openTokens({ dataDir, ...NONE });
    assert.deepEqual(later.findQuota(id), {
      events: undefined,
      bytes: 500,
      stored_bytes: undefined,
    });
    await later.changeQuota(id, { bytes_per_day: null });
    assert.equal(later.findQuota(id), undefined);
    assert.equal(mustGrant(later, token).name, 'shop');
    await tokens.revoke(id);
    assert.equal(tokens.findQuota(id), undefined);
    assert(!tokens.stillGrants(grant));
  });
});

test('tokens of the settings, and tokens that may not post, have no quota', async () => {
  await withFolder(async (dataDir) => {
    const { tokens } = await openTokens({ dataDir, ...PRIVATE });
    const change = { events_per_day: 10 };
    await assert.rejects(tokens.changeQuota('settings-private', change), {
      code: 'token_conflict',
    });
    const { id } = await tokens.create(ORDER);
    await assert.rejects(tokens.changeQuota(id, change), { code: 'token_conflict' });
    await assert.rejects(tokens.changeQuota('none', change), { code: 'unknown_token' });
  });
});
