import { deepEqual, equal, throws } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectionOf, openClient } from '../../src/clickhouse/client.ts';
import { parseSettings, SettingsError } from '../../src/settings.ts';

const URL_SETTING = { STORE: 'clickhouse', CLICKHOUSE_URL: 'http://localhost:8123/' };

test('the connection is that of the settings', () => {
  deepEqual(connectionOf(parseSettings(URL_SETTING)), {
    url: 'http://localhost:8123',
    username: 'default',
    password: '',
    database: 'default',
  });
  const others = {
    CLICKHOUSE_USER: 'weir',
    CLICKHOUSE_PASSWORD: 'a secret',
    CLICKHOUSE_DATABASE: 'logs',
  };
  deepEqual(connectionOf(parseSettings({ ...URL_SETTING, ...others })), {
    url: 'http://localhost:8123',
    username: 'weir',
    password: 'a secret',
    database: 'logs',
  });
});

test('a file may hold the password', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-password-'));
  const path = join(folder, 'password');
  writeFileSync(path, 'from a file\n');
  const settings = parseSettings({ ...URL_SETTING, CLICKHOUSE_PASSWORD_FILE: path });
  equal(connectionOf(settings).password, 'from a file');
  rmSync(folder, { recursive: true });
});

test('the settings of the other store need no server', () => {
  equal(parseSettings({}).store, 'embedded');
  throws(() => parseSettings({ STORE: 'clickhouse' }), /CLICKHOUSE_URL must be set/);
});

test('a server is named by its origin alone, and names need no quotes', () => {
  for (const url of [
    'localhost:8123',
    'tcp://localhost:9000',
    'http://user:secret@localhost:8123',
    'http://localhost:8123/path',
    'http://localhost:8123/?database=x',
  ]) {
    throws(() => parseSettings({ ...URL_SETTING, CLICKHOUSE_URL: url }), SettingsError, url);
  }
  for (const name of ['a-b', '1a', 'a b', 'a`b', 'a.b']) {
    throws(() => parseSettings({ ...URL_SETTING, CLICKHOUSE_DATABASE: name }), SettingsError);
    throws(() => parseSettings({ ...URL_SETTING, CLICKHOUSE_CLUSTER: name }), SettingsError);
  }
});

test('a client connects with its first request only', async () => {
  const connection = connectionOf(parseSettings(URL_SETTING));
  const client = openClient(connection, { silentMsMax: 1_000, requestsMax: 1, settings: {} });
  await client.close();
});
