import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { BODY_BYTES_MAX } from '../../ingest/limits.ts';
import type { Random } from '../../src/demo/traffic/random.ts';
import type { DocumentedOperation, ParameterObject } from '../support/api-document.ts';
import { TOKEN_SCOPES, tokenText } from './guarded-service.ts';
import { damaged, hostileJson, randomJson, randomText } from './random-value.ts';

/** How the bytes of a request arrive. */
type Delivery = 'whole' | 'chunked' | 'in pieces' | 'cut off' | 'in broken chunks';

/** A request as it is written to a connection: nothing of it need be right. */
export type RandomRequest = {
  /** Of the request line. */
  method: string;
  path: string;
  query: [string, string][];
  headers: [string, string][];
  body: Buffer | undefined;
  delivery: Delivery;
  version: string;
  /** Whether it is as the document wants it. */
  isValid: boolean;
  /** Whether what it asks for may have been removed by another. */
  mayBeGone: boolean;
};

/** Ids of things that may be removed, by the path that they are found behind. */
export type Disposable = ReadonlyMap<string, readonly string[]>;

const FORMS = ['app.kinds.csv', 'usage.api-counts.ndjson'];
const IDS = ['2034724d-89c8-43a9-aabc-52f7404f4bdd', '2034724D-89C8-43A9-AABC-52F7404F4BDD'];

/** Texts for the parts of paths, by their names. */
const PATH_TEXTS: Readonly<Record<string, readonly string[]>> = {
  index: ['postgres.logs', 'logs-2026.01.15'],
  name: ['logs.all', 'usage.api-counts', 'app.kinds'],
  idOrName: ['logs.all', 'app.kinds', ...FORMS, ...IDS],
};

/** A request of an operation: as it wants to be asked, or nearly, or not at all. */
export function randomRequest(
  random: Random,
  operation: DocumentedOperation,
  disposable: Disposable,
): RandomRequest {
  const request = validRequest(random, operation, disposable);
  if (random.below(5) < 2) return request;
  request.isValid = false;
  const count = 1 + random.below(3);
  for (let turn = 0; turn < count; turn++) random.pick(MUTATIONS)(random, request);
  return request;
}

/** A request as the document wants it. */
export function validRequest(
  random: Random,
  operation: DocumentedOperation,
  disposable: Disposable,
): RandomRequest {
  const { method, path, object } = operation;
  const parameters = object.parameters ?? [];
  const request: RandomRequest = {
    method,
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(random.pick(pathTexts(operation, name, disposable))),
    ),
    query: [],
    headers: [],
    body: undefined,
    delivery: random.pick(['whole', 'whole', 'whole', 'chunked', 'in pieces']),
    version: 'HTTP/1.1',
    isValid: true,
    mayBeGone: disposable.has(path.slice(0, path.indexOf('/{'))),
  };
  for (const parameter of parameters) {
    const isWanted =
      parameter.required === true || parameter.explode === true || parameter.name === 'If-Match';
    // Each of the two says where to begin.
    const begun = request.query.some(([name]) => name === 'after' || name === 'last');
    const isTwice = begun && (parameter.name === 'after' || parameter.name === 'last');
    if (isWanted || (!isTwice && random.below(3) === 0)) addParameter(random, request, parameter);
  }
  addAddress(random, request, parameters);
  addBody(random, request, operation);
  addToken(random, request, operation);
  return request;
}

function pathTexts(
  { method, path }: DocumentedOperation,
  name: string,
  disposable: Disposable,
): readonly string[] {
  if (path === '/api/sources/{name}') return ['app.logs', 'shop.logs'];
  if (path.startsWith('/api/sources/')) return ['postgres.logs', 'gotrue.logs.prod'];
  if (path === '/api/endpoints/{idOrName}') {
    // An id is the definition there, and not called; a name alone has a path of its own.
    if (method === 'POST') return FORMS;
    if (method === 'GET') return [...FORMS, ...IDS];
  }
  return disposable.get(path.slice(0, path.indexOf('/{'))) ?? PATH_TEXTS[name] ?? ['alpha'];
}

function addParameter(random: Random, request: RandomRequest, parameter: ParameterObject): void {
  const { name, schema } = parameter;
  if (parameter.explode === true) {
    // What any of the endpoints wants to know.
    request.query.push(['project', 'alpha'], ['interval', 'hourly']);
  } else if (parameter.in === 'query') {
    request.query.push([name, textFor(random, name, schema)]);
  }
  if (name === 'If-Match') request.headers.push([name, '*']);
  // What is to be changed is there already.
  const isChange = request.headers.some(([header]) => header === 'If-Match');
  if (parameter.in === 'header' && name === 'If-None-Match' && !isChange) {
    request.headers.push([name, random.pick(['"a"', '*', 'W/"b", "c"'])]);
  }
}

/** A text that the schema takes. */
function textFor(random: Random, name: string, schema: Readonly<Record<string, unknown>>): string {
  const { anyOf: among, enum: listed, type, format, minimum } = schema;
  if (Array.isArray(among)) return textFor(random, name, among[0]);
  if (name === 'explain') return 'false';
  if (name === 'sql') return 'SELECT 1 AS one';
  // Ids of this instance are known to its followers alone; a number is one of an earlier version.
  if (name === 'after') return String(random.below(100));
  if (Array.isArray(listed)) return String(random.pick(listed));
  if (format === 'date-time') return '2026-01-15T11:00:00Z';
  if (type === 'integer') return String(Number(minimum ?? 0) + random.below(100));
  if (type === 'number') return String(random.below(100) / 8);
  if (type === 'boolean') return random.pick(['true', 'false']);
  return random.pick(['alpha', 'beta', 'gamma']);
}

/** A source that is there, named once. */
function addAddress(
  random: Random,
  request: RandomRequest,
  parameters: readonly ParameterObject[],
): void {
  if (!parameters.some(({ name }) => name === 'source_name')) return;
  request.query = [];
  const source = random.pick(['postgres.logs', 'gotrue.logs.prod']);
  if (random.below(4) === 0) request.headers.push(['X-Source', source]);
  else request.query.push(['source_name', source]);
}

function addBody(random: Random, request: RandomRequest, { object }: DocumentedOperation): void {
  const content = Object.entries(object.requestBody?.content ?? {});
  if (content.length === 0) return;
  const examples = content.filter(([, { example }]) => example !== undefined);
  if (examples.length === 0) {
    const { required = [], properties = {} } = content[0]![1].schema as ObjectSchema;
    if (required.length === 0 && random.below(2) === 0) return;
    const members = Object.entries(properties)
      .filter(([name]) => required.includes(name) || random.below(3) === 0)
      .map(([name, schema]) => [name, textFor(random, name, schema)]);
    request.headers.push(['Content-Type', 'application/json']);
    request.body = Buffer.from(JSON.stringify(Object.fromEntries(members)));
    return;
  }
  const [type, { example }] = random.pick(examples);
  request.headers.push(['Content-Type', type]);
  const bytes = Buffer.from(typeof example === 'string' ? example : named(random, example));
  const mayBePacked = object.parameters?.some(({ name }) => name === 'Content-Encoding') === true;
  const [encoding, encode] = mayBePacked ? random.pick(ENCODINGS) : ENCODINGS[0]!;
  if (encoding !== '') request.headers.push(['Content-Encoding', encoding]);
  request.body = encode(bytes);
}

/** An example in JSON; what has a name is to be a new one. */
function named(random: Random, example: unknown): string {
  const { name } = example as { readonly name?: unknown };
  if (typeof name !== 'string') return JSON.stringify(example);
  return JSON.stringify({ ...(example as object), name: `${name}-${random.below(2 ** 31)}` });
}

type ObjectSchema = {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

const ENCODINGS: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
  ['', (bytes) => bytes],
  ['', (bytes) => bytes],
  ['identity', (bytes) => bytes],
  ['gzip', (bytes) => gzipSync(bytes)],
  ['deflate', (bytes) => deflateSync(bytes)],
  ['deflate', (bytes) => deflateRawSync(bytes)],
  ['br', (bytes) => brotliCompressSync(bytes)],
];

function addToken(random: Random, request: RandomRequest, { object }: DocumentedOperation): void {
  // Behind this path an id is the definition itself, which is not read by a URL alone.
  const isDefinition = /^\/api\/endpoints\/[\da-f-]{36}$/i.test(request.path);
  const ways = object.security
    .flatMap((requirement) => Object.keys(requirement))
    .filter((way) => !(isDefinition && way === 'url'));
  if (ways.length === 0) return;
  const token = tokenText('all');
  switch (random.pick(ways)) {
    case 'bearer':
      request.headers.push(['Authorization', `Bearer ${token}`]);
      break;
    case 'header':
      request.headers.push(['X-API-KEY', token]);
      break;
    case 'url':
      request.query.push(['api_key', token]);
      break;
    case 'datadog':
      request.headers.push(['DD-API-KEY', token]);
      break;
    case 'datadogUrl':
      request.query.push(['dd-api-key', token]);
      break;
    case 'splunk':
      request.headers.push(['Authorization', `Splunk ${token}`]);
      break;
    default:
      request.headers.push(['Authorization', `Basic ${btoa(`a:${token}`)}`]);
  }
}

type Mutation = (random: Random, request: RandomRequest) => void;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=utf-16',
  'application/json;charset="utf-8"',
  'APPLICATION/JSON',
  'application/x-ndjson',
  'application/x-protobuf',
  'application/sql',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
  'text/html',
  'image/png',
  '',
  ';',
  'application/',
  '*/*',
];

const ACCEPTS = [
  '*/*',
  'text/csv',
  'application/x-ndjson;q=0.5, text/csv;q=0.4',
  'application/problem+json',
  'application/problem+json;q=0, application/json',
  'text/html',
  'image/*;q=9',
  '*/*;q=0',
  ';;;',
  ',',
];

const TAGS = ['*', '"', 'W/"', '""', '"a", "b"', 'a'.repeat(5_000), '\u00ff', 'W/"a";"b"'];

/** What may be wrong with a request, each on its own. */
const MUTATIONS: readonly Mutation[] = [
  // Parameters.
  (random, { query }) => void query.splice(random.below(query.length + 1), 1),
  (random, { query }) => {
    const one = query[random.below(query.length)];
    if (one !== undefined)
      query.push([one[0], random.below(2) === 0 ? one[1] : randomText(random)]);
  },
  (random, { query }) => {
    const one = query[random.below(query.length)];
    if (one !== undefined) one[1] = randomText(random);
  },
  (random, { query }) => void query.push([randomText(random), randomText(random)]),
  (random, { query }) =>
    void query.push([
      random.pick(['explain', 'sql', 'source', 'ref', 'api_key']),
      randomText(random),
    ]),
  // The token.
  (random, request) => {
    const { headers, query } = request;
    request.headers = headers.filter(([name]) => !/^(?:authorization|x-api-key)$/i.test(name));
    request.query = query.filter(([name]) => name !== 'api_key');
    if (random.below(3) === 0) return;
    const token = random.pick(['wrong', 'Bearer', ...Object.keys(TOKEN_SCOPES).map(tokenText)]);
    request.headers.push(
      random.pick([
        ['X-API-KEY', token],
        ['Authorization', `Bearer ${token}`],
        ['Authorization', `Basic ${token}`],
        ['Authorization', `ApiKey ${btoa(`:${token}`)}`],
        ['Authorization', token],
        ['X-API-KEY', ''],
      ]),
    );
  },
  // The method and the path.
  (random, request) => {
    request.method = random.pick(METHODS);
  },
  (random, request) => {
    request.path = random.pick([
      () => `${request.path}/`,
      () => `${request.path}//`,
      () => `/${request.path}`,
      () => `${request.path}/..`,
      () => `${request.path}%2F..`,
      () => `${request.path}%00`,
      () => `${request.path}%`,
      () => `${request.path}.csv`,
      () => request.path.toUpperCase(),
      () => request.path.slice(0, 1 + random.below(request.path.length)),
      () => request.path.replace(/[^/]+$/, encodeURIComponent(toWellFormed(randomText(random)))),
      () => `${request.path}/${encodeURIComponent(toWellFormed(randomText(random)))}`,
    ])();
  },
  // Headers.
  (random, { headers }) => void headers.push(['Content-Type', random.pick(CONTENT_TYPES)]),
  (random, { headers }) => void headers.push(['Accept', random.pick(ACCEPTS)]),
  (random, { headers }) => void headers.push(['If-None-Match', random.pick(TAGS)]),
  (random, { headers }) => void headers.push(['If-Match', random.pick(TAGS)]),
  (random, { headers }) => void headers.push(['X-Request-Id', randomText(random)]),
  (random, { headers }) => void headers.push(['X-Source', randomText(random)]),
  (random, { headers }) =>
    void headers.push(['Accept-Encoding', random.pick(['br;q=2', '*;q=0', 'gzip'])]),
  (random, { headers }) => void headers.push(['Last-Event-ID', randomText(random)]),
  (random, { headers }) => void headers.push(['Expect', random.pick(['100-continue', 'the-best'])]),
  (random, { headers }) =>
    void headers.push(['Content-Encoding', random.pick(['gzip', 'br', 'zstd', 'gzip, gzip', ''])]),
  (random, { headers }) => void headers.push([randomText(random), randomText(random)]),
  (random, { headers }) => void headers.push(['X-Long', 'x'.repeat(random.below(90_000))]),
  // The body.
  (random, request) => {
    if (request.body !== undefined) request.body = damaged(random, request.body);
  },
  (random, request) => {
    request.body = Buffer.from(JSON.stringify(randomJson(random)));
  },
  (random, request) => {
    request.body = Buffer.from(hostileJson(random));
  },
  (random, request) => {
    request.body = Buffer.from(randomText(random));
  },
  (random, request) => {
    // Now and then only: each is twelve million bytes.
    if (random.below(20) === 0)
      request.body = Buffer.alloc(BODY_BYTES_MAX + random.below(3) - 1, 32);
  },
  // The way it comes.
  (random, request) => {
    request.delivery = random.pick(['chunked', 'in pieces', 'cut off', 'in broken chunks']);
  },
  (random, request) => {
    request.version = random.pick(['HTTP/1.0', 'HTTP/1.1', 'HTTP/2.0', 'HTTP/9', 'http/1.1', '']);
  },
];

/** Half of a pair of surrogates has no UTF-8. */
function toWellFormed(text: string): string {
  return text.replaceAll(/[\ud800-\udfff]/g, '?');
}
