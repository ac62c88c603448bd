import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { SqlType } from '../../engine/column/type.ts';
import {
  decodedValue,
  findType,
  type GoogleInput,
  type GoogleValue,
  type TypeMessage,
  typeMessage,
  type ValueMessage,
  valueMessage,
} from './google-value.ts';

export type GoogleTable = {
  /** As it stands between backticks, dots and all. */
  readonly name: string;
  readonly columns: readonly GoogleColumn[];
  /** Values by the columns' names; one left out is NULL. */
  readonly rows: readonly { readonly [column: string]: GoogleInput }[];
};

type GoogleColumn = { readonly name: string; readonly type: SqlType };

export type GoogleParameter = { readonly type: SqlType; readonly value: GoogleInput };

export type GoogleAnswer =
  | {
      /** A column that the text gives no name is called f0_, f1_ and so on, as BigQuery does. */
      readonly columns: readonly GoogleColumn[];
      readonly rows: readonly (readonly GoogleValue[])[];
      readonly error?: undefined;
    }
  | {
      readonly error: {
        /** `unsupported`: valid GoogleSQL that this engine cannot run, or a type weir has not. */
        readonly phase: 'compile' | 'run' | 'unsupported';
        readonly message: string;
      };
    };

const PACKAGE = '@fivetrandevelopers/zetasql';
const START_MS_MAX = 20_000;
/** A query of a test takes a millisecond. */
const CALL_MS_MAX = 60_000;

/** What a query takes longer than it may: the server goes on with it, and had better be stopped. */
export class GoogleIsLate extends Error {}
const MESSAGE_BYTES_MAX = 512 * 1024 * 1024;
/** Codes of gRPC. */
const UNIMPLEMENTED = 12;
const UNAVAILABLE = 14;
const DEADLINE_EXCEEDED = 4;

type Failure = Error & { readonly code: number; readonly details: string };
type Callback = (error: Failure | null, response: unknown) => void;

/** What of the package's own gRPC client is used here; it is not installed with the project. */
type Client = {
  waitForReady(deadline: number, callback: (error?: Error) => void): void;
  close(): void;
} & Readonly<
  Record<string, (request: object, options: { deadline: number }, callback: Callback) => void>
>;

type Connection = {
  readonly client: Client;
  readonly language: object;
  readonly callMsMax: number;
};

/**
 * Google's own GoogleSQL engine: a native server beside us, asked by gRPC over loopback. It is
 * installed by `npm ci --ignore-scripts` in this folder only. The catalogue of the last tables is
 * kept, so calls with the same `tables` array in a row are fast; one call at a time.
 */
export class GoogleSql {
  readonly #server: ChildProcess;
  readonly #client: Client;
  readonly #language: object;
  readonly #callMsMax: number;
  #catalog: { readonly tables: readonly GoogleTable[]; readonly id: string } | undefined;

  private constructor(server: ChildProcess, { client, language, callMsMax }: Connection) {
    this.#server = server;
    this.#client = client;
    this.#language = language;
    this.#callMsMax = callMsMax;
  }

  static isInstalled(): boolean {
    return findPackage() !== undefined;
  }

  /** Rejects when the package is not installed, or has no server for this machine. */
  static async start(callMsMax = CALL_MS_MAX): Promise<GoogleSql> {
    const manifest = findPackage();
    if (manifest === undefined) {
      throw new Error(`${PACKAGE} is not installed: npm ci --ignore-scripts in test/conformance`);
    }
    const folder = join(dirname(manifest), 'lib', 'zetasql');
    const port = await freePort();
    const server = spawn(join(folder, serverName()), ['localhost', String(port)], {
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    // A server outlives its parent, unless it is told.
    process.once('exit', () => server.kill('SIGKILL'));
    try {
      await Promise.race([
        once(server, 'spawn'),
        once(server, 'error').then(([error]) => Promise.reject(error)),
      ]);
      const client = await connect({ manifest, folder, port });
      return new GoogleSql(server, { client, language: await languageOf(client), callMsMax });
    } catch (error) {
      server.kill('SIGKILL');
      throw error;
    }
  }

  /** Runs one query; its own errors are answers, anything else rejects. The time zone is UTC. */
  async evaluate(
    sql: string,
    data: {
      readonly tables?: readonly GoogleTable[];
      readonly parameters?: Readonly<Record<string, GoogleParameter>>;
    } = {},
  ): Promise<GoogleAnswer> {
    const parameters = Object.entries(data.parameters ?? {});
    const request = {
      sql,
      registered_catalog_id: await this.#catalogOf(data.tables ?? NO_TABLES),
      options: {
        language_options: this.#language,
        default_timezone: 'UTC',
        error_message_mode: 'ERROR_MESSAGE_ONE_LINE',
        query_parameters: parameters.map(([name, { type }]) => ({ name, type: typeMessage(type) })),
      },
    };
    const params = parameters.map(([name, { type, value }]) => ({
      name,
      value: valueMessage(value, type),
    }));
    try {
      return answerOf(
        (await call(
          this.#client,
          'EvaluateQuery',
          { ...request, params },
          this.#callMsMax,
        )) as Answer,
      );
    } catch (error) {
      const { code, details } = mustFailure(error);
      if (code === UNIMPLEMENTED) return { error: { phase: 'unsupported', message: details } };
      const compiles = await this.#compiles(request);
      return { error: { phase: compiles ? 'run' : 'compile', message: details } };
    }
  }

  /** Ends the server; no call may be under way. */
  async stop(): Promise<void> {
    this.#client.close();
    if (this.#server.exitCode !== null || this.#server.signalCode !== null) return;
    this.#server.kill('SIGKILL');
    await once(this.#server, 'exit');
  }

  async #compiles(request: object): Promise<boolean> {
    try {
      const { prepared } = (await call(this.#client, 'PrepareQuery', request)) as Answer;
      await call(this.#client, 'UnprepareQuery', { prepared_query_id: prepared.prepared_query_id });
      return true;
    } catch (error) {
      mustFailure(error);
      return false;
    }
  }

  async #catalogOf(tables: readonly GoogleTable[]): Promise<string> {
    if (this.#catalog?.tables === tables) return this.#catalog.id;
    if (this.#catalog !== undefined) {
      await call(this.#client, 'UnregisterCatalog', { registered_id: this.#catalog.id });
      this.#catalog = undefined;
    }
    const simple_catalog = {
      name: 'tables',
      table: tables.map(({ name, columns }) => ({
        name,
        column: columns.map((column) => ({ name: column.name, type: typeMessage(column.type) })),
      })),
      builtin_function_options: { language_options: this.#language },
    };
    const { registered_id } = (await call(this.#client, 'RegisterCatalog', {
      simple_catalog,
      table_content: Object.fromEntries(tables.map((table) => [table.name, contentOf(table)])),
    })) as { readonly registered_id: string };
    this.#catalog = { tables, id: registered_id };
    return registered_id;
  }
}

/** What the engine could do beyond BigQuery: compare arrays, and tell nanoseconds apart. */
const NOT_IN_BIGQUERY = new Set([
  'FEATURE_TIMESTAMP_NANOS',
  'FEATURE_V_1_1_ARRAY_EQUALITY',
  'FEATURE_V_1_3_ARRAY_ORDERING',
]);

/** BigQuery's dialect, with its names of types: no INT32, no DOUBLE. */
async function languageOf(client: Client): Promise<object> {
  const language = (await call(client, 'GetLanguageOptions', { maximum_features: true })) as {
    readonly enabled_language_features: readonly string[];
  };
  return {
    ...language,
    product_mode: 'PRODUCT_EXTERNAL',
    enabled_language_features: [
      ...language.enabled_language_features.filter((feature) => !NOT_IN_BIGQUERY.has(feature)),
      // Not among them, since this engine has not all of it; BigQuery has.
      'FEATURE_INTERVAL_TYPE',
    ],
  };
}

const NO_TABLES: readonly GoogleTable[] = [];

/** `EvaluateQueryResponse`, as far as it is read. */
type Answer = {
  readonly content?: {
    readonly table_data?: {
      readonly row?: readonly { readonly cell?: readonly ValueMessage[] }[];
    };
  };
  readonly prepared: {
    readonly prepared_query_id?: string;
    readonly columns?: readonly { readonly name: string; readonly type: TypeMessage }[];
  };
};

function answerOf({ content, prepared }: Answer): GoogleAnswer {
  const columns: GoogleColumn[] = [];
  let anonymousCount = 0;
  for (const { name, type: message } of prepared.columns ?? []) {
    const type = findType(message);
    if (type === undefined) {
      return { error: { phase: 'unsupported', message: `a column of type ${message.type_kind}` } };
    }
    columns.push({ name: name === '' ? `f${anonymousCount++}_` : name, type });
  }
  const rows = (content?.table_data?.row ?? []).map(({ cell = [] }) =>
    columns.map(({ type }, index) => decodedValue(cell[index]!, type)),
  );
  return { columns, rows };
}

function contentOf({ columns, rows }: GoogleTable): object {
  const row = rows.map((values) => ({
    cell: columns.map(({ name, type }) => valueMessage(values[name], type)),
  }));
  return { table_data: { row } };
}

function call(
  client: Client,
  method: string,
  request: object,
  msMax = CALL_MS_MAX,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    client[method]!(request, { deadline: Date.now() + msMax }, (error, response) =>
      error === null ? resolve(response) : reject(error),
    );
  });
}

/** What the server says about the query; a server that is gone or late is no answer. */
function mustFailure(error: unknown): Failure {
  const failure = error as Failure;
  if (failure.code === DEADLINE_EXCEEDED) throw new GoogleIsLate('no answer', { cause: error });
  if (failure.code === undefined || failure.code === UNAVAILABLE) throw error;
  return failure;
}

function findPackage(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`);
  } catch {
    return undefined;
  }
}

function serverName(): string {
  const machine = process.arch.startsWith('arm') ? '_arm' : '';
  return `remote_server${machine}${process.platform === 'darwin' ? '' : '.so'}`;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('a port has a number');
  return address.port;
}

/** gRPC and its loader come with the package, so they are looked for from where it lies. */
type Grpc = {
  readonly credentials: { createInsecure(): unknown };
  loadPackageDefinition(definition: unknown): {
    readonly zetasql: {
      readonly local_service: {
        readonly ZetaSqlLocalService: new (
          address: string,
          credentials: unknown,
          options: object,
        ) => Client;
      };
    };
  };
};
type Loader = { loadSync(file: string, options: object): unknown };

async function connect(at: {
  readonly manifest: string;
  readonly folder: string;
  readonly port: number;
}): Promise<Client> {
  const requireBeside = createRequire(at.manifest);
  const grpc = requireBeside('@grpc/grpc-js') as Grpc;
  const loader = requireBeside('@grpc/proto-loader') as Loader;
  const definition = loader.loadSync('local_service.proto', {
    includeDirs: [join(at.folder, 'protos')],
    keepCase: true,
    longs: String,
    enums: String,
  });
  const { ZetaSqlLocalService } = grpc.loadPackageDefinition(definition).zetasql.local_service;
  const client = new ZetaSqlLocalService(
    `127.0.0.1:${at.port}`,
    grpc.credentials.createInsecure(),
    { 'grpc.max_receive_message_length': MESSAGE_BYTES_MAX },
  );
  await new Promise<void>((resolve, reject) => {
    client.waitForReady(Date.now() + START_MS_MAX, (error) => (error ? reject(error) : resolve()));
  });
  return client;
}
