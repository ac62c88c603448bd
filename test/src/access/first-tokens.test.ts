import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { revokeUnseen } from '../../../src/access/first-tokens.ts';
import type { LogEntry } from '../../../src/log.ts';

test('tokens of a failed start are revoked, and one that stays is logged', async () => {
  const revoked: string[] = [];
  const entries: LogEntry[] = [];
  const made = ['private', 'public'].map((name) => {
    return { id: `id of ${name}`, name, token: `text of ${name}`, scopes: [] };
  });
  const tokens = {
    revoke: async (id: string): Promise<void> => {
      if (id === 'id of private') throw new Error('the disk is full');
      revoked.push(id);
    },
  };
  await revokeUnseen({ made, tokens }, (entry) => entries.push(entry));
  deepEqual(revoked, ['id of public']);
  deepEqual(entries, [
    {
      level: 'error',
      event: 'unseen_token_not_revoked',
      name: 'private',
      id: 'id of private',
      reason: 'the disk is full',
    },
  ]);
  await revokeUnseen(undefined, (entry) => entries.push(entry));
  deepEqual(entries.length, 1);
});
