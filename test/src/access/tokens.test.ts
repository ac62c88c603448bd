import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTokens } from '../../../src/access/tokens.ts';

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const NONE = { publicAccessToken: undefined, privateAccessToken: undefined };

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
    for (const { name, token, scopes } of made) {
      assert.match(token, /^weir_(private|public)_[\w-]{43}$/);
      assert(!text.includes(token));
      assert(text.includes(createHash('sha256').update(token).digest('hex')));
      assert.deepEqual(tokens.find(token), { name, scopes });
    }
    assert.equal((await stat(join(dataDir, 'tokens.json'))).mode & 0o777, 0o600);
  });
});

test('the second start knows the same tokens and makes none', async () => {
  await withFolder(async (dataDir) => {
    const first = await openTokens({ dataDir, ...NONE });
    const second = await openTokens({ dataDir, ...NONE });
    assert.deepEqual(second.made, []);
    for (const { token, name } of first.made) assert.equal(second.tokens.find(token)?.name, name);
    assert.equal(second.tokens.find(`${first.made[0]!.token}x`), undefined);
    assert.equal(second.tokens.find(''), undefined);
  });
});

test('with a token in the settings no file is made and no other token counts', async () => {
  await withFolder(async (dataDir) => {
    const { tokens, made } = await openTokens({
      dataDir,
      publicAccessToken: undefined,
      privateAccessToken: 'secret',
    });
    assert.deepEqual(made, []);
    assert.deepEqual(await readdir(dataDir), []);
    assert.equal(tokens.find('secret')?.name, 'private');
    assert.equal(tokens.find('other'), undefined);
  });
});

for (const text of [
  '',
  '{"version":1,"tokens":[]}',
  '{"version":2}',
  '[',
  '{"version":1,"tokens":[{"name":"a","scopes":["all"],"sha256":"0"}]}',
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
