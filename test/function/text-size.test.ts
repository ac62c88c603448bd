import { equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { MADE_TEXT_LENGTH_MAX } from '../../engine/limits.ts';
import { call } from './call.ts';

const LONG = 'x'.repeat(MADE_TEXT_LENGTH_MAX);

test('a text is joined of others up to a MiB more than the longest of them', () => {
  equal(call('concat', LONG, LONG), LONG + LONG);
  throws(() => call('concat', LONG, LONG, 'x'), { code: 'query_limit' });
});

test('the elements of an array may be long, and what stands between them may not', () => {
  equal(call('array_to_string', [LONG, LONG, LONG], ','), [LONG, LONG, LONG].join(','));
  equal(call('array_to_string', ['', ''], LONG), LONG);
  throws(() => call('array_to_string', ['', '', ''], LONG), { code: 'query_limit' });
  throws(() => call('array_to_string', [null, null], '', LONG), { code: 'query_limit' });
});
