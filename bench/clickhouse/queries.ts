import { must } from '../../engine/assert.ts';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';
import { FIELD_COLUMN_START } from '../../src/clickhouse/fields/field-path.ts';
import { type Cell, rowJson } from '../../src/clickhouse/render/answer.ts';
import { renderQuery } from '../../src/clickhouse/render/query-sql.ts';
import { ShipBatch } from '../../src/clickhouse/ship-batch.ts';
import { SHIPPED_COLUMNS } from '../../src/clickhouse/shipped-row.ts';
import { type Catalogue, loadCatalogue } from '../../src/definition/catalogue.ts';
import { barText, figuresOf, hashOf } from '../measure.ts';
import { DIALECT, quoted } from '../peers/clickhouse.ts';
import {
  creation,
  LOAD_SETTINGS,
  DATABASE as PEER_DATABASE,
  stagingCreation,
  stagingName,
} from '../peers/clickhouse-schema.ts';
import { statementOf } from '../peers/peer-sql.ts';
import type { Question } from '../peers/question.ts';
import { tableOf } from '../peers/table.ts';
import { NOW_US } from '../workload/clock.ts';
import { Tenants } from '../workload/tenants.ts';
import type { Kind } from '../workload/workload.ts';
import { columnsOf, type SavedColumns } from './columns.ts';
import { DIRECTORY, records } from './records.ts';
import type { BenchServer } from './server.ts';

const WARM_UPS = 2;
const PAIRS = 9;
/** Of the time of the expert's statement. */
const BAR = 1.3;
/** Rows of an insert while the tables are filled, and bytes: a string of full events has a limit of 512 MB. */
const LOAD_ROWS = 200_000;
const LOAD_BYTES = 128e6;
/** A full event has some 3.5 KB, nine times as much as a lean one. */
const FULL_PART = 10;

const TENANTS = new Tenants(2_000);
const PROJECT = TENANTS.hot.ref;

/** A call of a built-in query, and the same question to the expert's table. */
type Asked = {
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly question: Question;
  /** Columns that both answers have alike: the two approximate quantiles differently, and write JSON differently. */
  readonly compared: readonly number[];
};

const ASKED: ReadonlyMap<Kind, readonly Asked[]> = new Map<Kind, readonly Asked[]>([
  [
    'invocations',
    (['7day', '1day'] as const).map((interval) => ({
      name: 'functions.invocation-stats',
      parameters: { project: PROJECT, interval },
      question: { kind: 'invocation-stats', project: PROJECT, interval },
      compared: [0, 1, 2, 6, 7],
    })),
  ],
  [
    'lean',
    [
      {
        name: 'usage.api-counts',
        parameters: { project: PROJECT, interval: 'daily' },
        question: { kind: 'api-counts', expression: PROJECT, interval: 'daily' },
        compared: [0, 1, 2, 3, 4],
      },
    ],
  ],
  [
    'full',
    [
      {
        name: 'logs.all',
        parameters: { project: PROJECT, project_tier: 'ENTERPRISE' },
        question: { kind: 'logs-all', project: PROJECT },
        compared: [0, 1, 2],
      },
    ],
  ],
]);

/** Compares the built-in queries, as weir renders them, with what an expert asks a table made for them. */
export async function benchQueries(server: BenchServer, rowCount: number): Promise<boolean> {
  const { sources } = DIRECTORY;
  const catalogue = await loadCatalogue({
    folder: undefined,
    engine: {
      prepare: (text, parameters, within, views) =>
        prepareQuery(text, { sources, parameters, within, views }),
    },
  });
  const columns = columnsOf(catalogue.list());
  let areReached = true;
  for (const [kind, all] of ASKED) {
    const eventCount = kind === 'full' ? Math.ceil(rowCount / FULL_PART) : rowCount;
    server.reset();
    server.chdb.run(columns.statement);
    await load(server, kind, eventCount);
    console.log(`${kind}: ${sizeLine(server)}`);
    for (const asked of all) {
      const isReached = await compare(server, { catalogue, columns }, asked, eventCount);
      areReached &&= isReached;
    }
  }
  return areReached;
}

/** Puts the same events into both tables, and merges their parts. */
async function load(server: BenchServer, kind: Kind, eventCount: number): Promise<void> {
  const { chdb } = server;
  const table = tableOf(kind);
  server.use('expert');
  for (const sql of [...creation(table), ...stagingCreation(table)]) chdb.run(sql);
  const settings = Object.fromEntries(
    Object.entries(LOAD_SETTINGS).map(([name, value]) => [name, String(value)]),
  );
  let batch = new ShipBatch('bench');
  let texts: string[] = [];
  const send = async (): Promise<void> => {
    if (batch.rowCount === 0) return;
    server.use('weir');
    await chdb.insertAsIs({
      ...{ table: 'weir.events', columns: [...SHIPPED_COLUMNS], format: 'TabSeparated' },
      values: Buffer.concat(batch.days().map(({ rows }) => rows)),
    });
    server.use('expert');
    await chdb.insertAsIs({
      ...{ table: `${PEER_DATABASE}.${stagingName(table)}`, format: 'JSONEachRow', settings },
      values: Buffer.from(texts.join('')),
    });
    batch = new ShipBatch('bench');
    texts = [];
  };
  for await (const { record, text } of records(kind, { tenants: TENANTS, eventCount })) {
    await batch.add(record);
    texts.push(text);
    if (batch.rowCount >= LOAD_ROWS || batch.byteSize >= LOAD_BYTES) await send();
  }
  await send();
  chdb.run('OPTIMIZE TABLE weir.events FINAL');
  chdb.run(`OPTIMIZE TABLE ${PEER_DATABASE}.${table.name} FINAL`);
}

/** Bytes on the disk. */
function sizeLine({ chdb }: BenchServer): string {
  const [[all = '', fields = ''] = []] = chdb.rows<[string, string]>(
    `SELECT sum(column_data_compressed_bytes), sumIf(column_data_compressed_bytes, startsWith(column, '${FIELD_COLUMN_START}'))
      FROM system.parts_columns WHERE active AND database = 'weir' AND table = 'events'`,
  );
  return `${all} bytes in the table, ${fields} of them in columns of fields`;
}

type Saved = { readonly catalogue: Catalogue; readonly columns: SavedColumns };

async function compare(
  server: BenchServer,
  saved: Saved,
  asked: Asked,
  eventCount: number,
): Promise<boolean> {
  const { name, parameters, question, compared } = asked;
  const sides = {
    weir: () => askWeir(server, saved, asked),
    expert: () => askExpert(server, question),
  } as const;
  const samples = { weir: [] as number[], expert: [] as number[] };
  const hashes = { weir: '', expert: '' };
  for (let pair = 0; pair < WARM_UPS + PAIRS; pair++) {
    for (const side of ['weir', 'expert'] as const) {
      server.use(side);
      const startMs = performance.now();
      const rows = await sides[side]();
      if (pair >= WARM_UPS) samples[side].push(performance.now() - startMs);
      hashes[side] = hashOf(
        JSON.stringify(rows.map((row) => compared.map((column) => String(row[column])))),
      );
    }
  }
  const weirMs = figuresOf(samples.weir).p50;
  const expertMs = figuresOf(samples.expert).p50;
  const ratio = weirMs / expertMs;
  const isSame = hashes.weir === hashes.expert;
  console.log(
    `${name} ${JSON.stringify(parameters)} over ${eventCount} rows: ${weirMs.toFixed(1)} ms by weir, ` +
      `${expertMs.toFixed(1)} ms by an expert: ${ratio.toFixed(2)} x ` +
      `${barText(`at most ${BAR} x`, ratio <= BAR)}; rows ${hashes.weir} and ${hashes.expert}: ${isSame ? 'the same' : 'DIFFERENT'}`,
  );
  return isSame && ratio <= BAR;
}

type Row = readonly unknown[];

/** From the values of the call to the rows, as the service does it. */
async function askWeir(
  server: BenchServer,
  { catalogue, columns }: Saved,
  { name, parameters }: Asked,
): Promise<readonly Row[]> {
  const endpoint = must(catalogue.find(name));
  const texts = new Map(Object.entries(parameters).map(([key, text]) => [key, [text]]));
  const plan = optimize(endpoint.query.bound, {
    parameters: endpoint.parameters.parse(texts),
    nowUs: NOW_US,
    rowsMax: endpoint.definition.rowsMax,
    sources: DIRECTORY.sources,
  });
  const { output } = endpoint.query.bound;
  const rendered = renderQuery(plan, output, {
    reach: EVERYTHING,
    findField: columns.find,
  });
  const settings = Object.entries(rendered.settings).map(([key, value]) =>
    typeof value === 'number' ? `${key} = ${value}` : `${key} = '${value}'`,
  );
  const sql = `${rendered.sql} SETTINGS ${settings.join(', ')}`;
  const cells = await server.rows<readonly Cell[]>(sql, rendered.parameters);
  return cells.map((row) => {
    const values = Object.values(JSON.parse(rowJson(row, output)) as Record<string, unknown>);
    return values.map((value, index) => (index === 0 ? microsOf(value) : value));
  });
}

/** A DATETIME as microseconds; any other value as it is. */
function microsOf(value: unknown): unknown {
  const isDatetime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  return isDatetime ? Date.parse(`${value}Z`) * 1000 : value;
}

async function askExpert(server: BenchServer, question: Question): Promise<readonly Row[]> {
  const { sql } = must(statementOf(question, DIALECT, quoted));
  const rows = await server.rows<Row>(sql);
  return rows.map((row) => row.flat());
}
