import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { ChdbUnderTest } from './chdb.ts';

/** Of a request, beside its settings. */
const NO_SETTINGS = new Set([
  ...['query', 'query_id', 'database', 'session_id', 'default_format'],
  ...['wait_end_of_query', 'enable_http_compression', 'readonly'],
  'cancel_http_readonly_queries_on_client_close',
]);

/** Bytes of the request line and the headers: those of ClickHouse are a megabyte. */
const HEADERS_SIZE_MAX = 1024 * 1024;

const SELECT = /^\s*(?:SELECT|WITH)\b/i;

const INSERT = /^\s*INSERT INTO (\S+)\s*\(([^)]*)\)\s*FORMAT (\w+)\s*$/i;
const FORMAT = /\s+FORMAT (\w+)\s*;?\s*$/i;

/** A request as it came, to be run now or later. */
export type DoorRequest = { readonly url: URL; readonly body: Buffer };

/**
 * The HTTP interface of a ClickHouse server, as far as the official client uses it, before ClickHouse in this process:
 * `ping`, statements, selects with parameters, and inserts with settings. Bodies may be compressed with gzip.
 */
export class HttpDoor {
  readonly #chdb: ChdbUnderTest;
  readonly #server: Server;
  /** Called when an insert has happened and before it is answered. */
  beforeAnswer: () => Promise<void> | void = () => {};
  /**
   * Called before a caller's statement is run, with its settings; `gone` aborts when the client hangs up. The service's
   * own statements come at any time: it is not called before them.
   */
  beforeSelect: (
    settings: Readonly<Record<string, string>>,
    gone: AbortSignal,
  ) => Promise<void> | void = () => {};
  /** The statement that runs for one that came, where this process cannot run that one. */
  translate = (sql: string): string => sql;
  /** Whether it is there at all: if not, connections are closed at once. */
  isOpen = true;
  /** Of the last insert. */
  insertSettings: Readonly<Record<string, string>> = {};
  /** Texts of the statements that came, oldest first. */
  readonly statements: string[] = [];

  private constructor(chdb: ChdbUnderTest) {
    this.#chdb = chdb;
    this.#server = createServer({ maxHeaderSize: HEADERS_SIZE_MAX }, (request, response) => {
      this.#answer(request, response).catch(() => request.socket.destroy());
    });
  }

  static async open(chdb: ChdbUnderTest): Promise<HttpDoor> {
    const door = new HttpDoor(chdb);
    await new Promise<void>((resolve) => door.#server.listen(0, '127.0.0.1', resolve));
    return door;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    if (!this.isOpen) throw new Error('the server is away');
    if (url.pathname === '/ping') {
      response.end('Ok.\n');
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const posted = Buffer.concat(chunks);
    const isZipped = request.headers['content-encoding'] === 'gzip';
    const body = isZipped ? gunzipSync(posted) : posted;
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    try {
      const text = await this.#run(withParts({ url, body }, request), gone.signal);
      const mayZip = /\bgzip\b/.test(String(request.headers['accept-encoding']));
      if (mayZip && url.searchParams.get('enable_http_compression') === '1') {
        response.setHeader('content-encoding', 'gzip');
        response.end(gzipSync(text));
      } else {
        response.end(text);
      }
    } catch (error) {
      if (!this.isOpen) throw error;
      const message = error instanceof Error ? error.message : String(error);
      const code = /Code: (\d+)/.exec(message)?.[1] ?? '1000';
      response.writeHead(500, { 'x-clickhouse-exception-code': code });
      response.end(
        message.startsWith('Code:') ? message : `Code: ${code}. DB::Exception: ${message}`,
      );
    }
  }

  async #run({ url, body }: DoorRequest, gone: AbortSignal): Promise<string> {
    const { searchParams } = url;
    const inQuery = searchParams.get('query');
    const insert = INSERT.exec(inQuery ?? '');
    if (insert !== null) {
      const [, table, columns, format] = insert;
      this.insertSettings = settingsOf(searchParams);
      await this.#chdb.insertAsIs({
        table: table!,
        columns: columns!.split(',').map((column) => column.trim().replaceAll('`', '')),
        format: format!,
        values: body,
        settings: this.insertSettings,
      });
      await this.beforeAnswer();
      if (!this.isOpen) throw new Error('the server has gone away');
      return '';
    }
    const sql = inQuery ?? body.toString();
    const format = FORMAT.exec(sql)?.[1] ?? 'TabSeparated';
    const text = sql.replace(FORMAT, '');
    this.statements.push(text);
    const run = this.translate(text);
    if (!SELECT.test(run)) return this.#chdb.answer(run, parametersOf(searchParams), format);
    const settings = settingsOf(searchParams);
    if (isOfCaller(searchParams)) await this.beforeSelect(Object.fromEntries(searchParams), gone);
    const list = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`);
    const whole = list.length === 0 ? run : `${run} SETTINGS ${list.join(', ')}`;
    return this.#chdb.answer(whole, parametersOf(searchParams), format);
  }
}

/** The parts of a form, which stand for parameters of the URL. */
function withParts(request: DoorRequest, { headers }: IncomingMessage): DoorRequest {
  const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(
    String(headers['content-type']),
  )?.[1];
  if (boundary === undefined) return request;
  const url = new URL(request.url);
  const text = request.body.toString();
  for (const part of text.split(`--${boundary}`).slice(1, -1)) {
    const [, name, value] = /^\r\n[^\r\n]*name="([^"]+)"\r\n\r\n(.*)\r\n$/s.exec(part) ?? [];
    if (name === undefined || value === undefined) throw new Error('the form cannot be read');
    url.searchParams.set(name, value);
  }
  return { url, body: Buffer.alloc(0) };
}

/** Callers' statements alone are bound to reading. */
function isOfCaller(searchParams: URLSearchParams): boolean {
  return searchParams.has('readonly');
}

function settingsOf(searchParams: URLSearchParams): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [name, value] of searchParams) {
    if (!NO_SETTINGS.has(name) && !name.startsWith('param_')) settings[name] = value;
  }
  return settings;
}

function parametersOf(searchParams: URLSearchParams): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const [name, value] of searchParams) {
    if (name.startsWith('param_')) parameters[name.slice('param_'.length)] = unescaped(value);
  }
  return parameters;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...([
    ['b', '\b'],
    ['f', '\f'],
    ['n', '\n'],
    ['r', '\r'],
    ['t', '\t'],
    ['0', '\0'],
  ] as const),
]);

/** A value as ClickHouse reads it: in the format TabSeparated. chDB is given values as they are. */
function unescaped(value: string): string {
  return value.replaceAll(/\\(.)/gs, (_, letter: string) => ESCAPES.get(letter) ?? letter);
}
