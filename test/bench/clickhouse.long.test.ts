import { match } from 'node:assert/strict';
import test from 'node:test';
import { missingChdb } from '../clickhouse/chdb.ts';
import { sourceOutput } from './bench-output.ts';

test('the benchmark of ClickHouse gets the same rows from both tables', {
  skip: missingChdb(),
}, async () => {
  const stdout = await sourceOutput('bench/clickhouse.ts', '--rows', '3000');
  match(
    stdout,
    /^backlog at 3000 lean events\/s for 6 s: .* 0 posts refused, 18000 events stored /m,
  );
  match(stdout, /^shipping: \d+ rows\/s by weir, \d+ rows\/s by the client/m);
  for (const name of ['functions.invocation-stats', 'usage.api-counts', 'logs.all']) {
    match(stdout, new RegExp(`^${name} .*: the same$`, 'm'));
  }
});
