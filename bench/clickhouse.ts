/**
 * weir before ClickHouse (chDB in this process, behind HTTP), beside what somebody who knows ClickHouse would do with the
 * same events through the same client: how fast a log is sent, and how long the three built-in queries take.
 */
import { parseArgs } from 'node:util';
import { benchQueries } from './clickhouse/queries.ts';
import { BenchServer } from './clickhouse/server.ts';
import { benchShipping } from './clickhouse/shipping.ts';
import { environmentLine } from './measure.ts';

const ROWS = 10_000_000;
/** More take longer and say the same: the rate does not depend on it. */
const SHIPPED_ROWS_MAX = 1_000_000;

const { values } = parseArgs({
  options: { rows: { type: 'string', default: String(ROWS) }, uncompiled: { type: 'boolean' } },
});
const rowCount = Number(values.rows);
if (!Number.isSafeInteger(rowCount) || rowCount < 1) {
  throw new Error(`--rows must be a number of rows from 1 on; got ${values.rows}`);
}
console.log(environmentLine());
const server = await BenchServer.open();
try {
  const [[version = ''] = []] = server.chdb.rows<[string]>('SELECT version()');
  console.log(`ClickHouse ${version} (chDB, two threads)`);
  const isShippingReached = await benchShipping(server, Math.min(rowCount, SHIPPED_ROWS_MAX));
  const areQueriesReached = await benchQueries(server, rowCount);
  if (!isShippingReached || !areQueriesReached) console.log('Not all bars are reached.');
} finally {
  await server.close();
}
