/**
 * weir before ClickHouse (chDB in this process, behind HTTP), beside what somebody who knows ClickHouse would do with the
 * same events through the same client: how fast a log is sent, and how long the three built-in queries take. And whether
 * the log of a service keeps its length while events come in steadily.
 *
 *   npm run bench:clickhouse                                   ten million rows: more than an hour
 *   npm run bench:clickhouse -- --rows 2000000 --only shipping,queries
 */
import { parseArgs } from 'node:util';
import { programWords } from '../test/support/program-words.ts';
import { benchBacklog } from './clickhouse/backlog.ts';
import { benchQueries } from './clickhouse/queries.ts';
import { BenchServer } from './clickhouse/server.ts';
import { benchShipping } from './clickhouse/shipping.ts';
import { environmentLine } from './measure.ts';

const ROWS = 10_000_000;
/** More take longer and say the same: the rate does not depend on it. */
const SHIPPED_ROWS_MAX = 1_000_000;

const PARTS = ['shipping', 'backlog', 'queries'] as const;

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: String(ROWS) },
    only: { type: 'string', default: PARTS.join() },
    uncompiled: { type: 'boolean' },
  },
});
const rowCount = Number(values.rows);
if (!Number.isSafeInteger(rowCount) || rowCount < 1) {
  throw new Error(`--rows must be a number of rows from 1 on; got ${values.rows}`);
}
const chosen = values.only.split(',').map((name) => {
  const part = PARTS.find((one) => one === name);
  if (part === undefined) throw new Error(`--only takes ${PARTS.join(', ')}; got ${name}`);
  return part;
});
const command = values.uncompiled ? programWords('src/main.ts') : ['dist/src/main.js'];
console.log(environmentLine());
const server = await BenchServer.open();
try {
  const [[version = ''] = []] = server.chdb.rows<[string]>('SELECT version()');
  console.log(`ClickHouse ${version} (chDB, two threads)`);
  const benches = {
    shipping: () => benchShipping(server, Math.min(rowCount, SHIPPED_ROWS_MAX)),
    backlog: () => benchBacklog(server, command, rowCount),
    queries: () => benchQueries(server, rowCount),
  };
  let areReached = true;
  for (const part of chosen) areReached = (await benches[part]()) && areReached;
  if (!areReached) console.log('Not all bars are reached.');
} finally {
  await server.close();
}
