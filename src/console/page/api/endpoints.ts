import { may } from '../state/session.ts';
import { ApiError, ask, send } from './client.ts';

type ParameterKind = 'string' | 'int64' | 'float64' | 'bool' | 'timestamp';

export type EndpointParameter = {
  readonly name: string;
  readonly type: ParameterKind;
  readonly required: boolean;
  readonly default?: string | undefined;
  readonly enum?: readonly string[] | undefined;
};

/** A saved query as the page knows it. What only a managing token sees may be missing. */
export type EndpointInfo = {
  readonly id?: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly EndpointParameter[];
  readonly inherited_parameters?: readonly EndpointParameter[];
  readonly origin?: string;
  readonly query?: string;
  readonly cache?: string;
  readonly max_rows?: number;
};

export type EndpointProblem = {
  readonly message: string;
  readonly file?: string;
  readonly name?: string;
  readonly served?: string;
};

export type EndpointList = {
  readonly endpoints: readonly EndpointInfo[];
  readonly problems: readonly EndpointProblem[];
};

/** All saved queries that the token may see. One that may only call them learns of them from the API document. */
export async function loadEndpoints(signal: AbortSignal): Promise<EndpointList> {
  if (may('manage')) {
    const { result, problems } = await ask<{
      readonly result: readonly EndpointInfo[];
      readonly problems: readonly EndpointProblem[];
    }>('api/endpoints', { signal });
    return { endpoints: result, problems };
  }
  const document = await ask<ApiDocument>('api/openapi.json', { signal });
  return { endpoints: endpointsIn(document), problems: [] };
}

/** The file of a saved query, and the state of it that a change must name. */
export type Definition = { readonly text: string; readonly etag: string };

export async function loadDefinition(id: string, signal: AbortSignal): Promise<Definition> {
  const headers = { Accept: 'application/sql' };
  const response = await send(definitionPath(id), { headers, signal });
  return { text: await response.text(), etag: response.headers.get('ETag') ?? '' };
}

/** Loads a definition (`loadDefinition`); `undefined` if there is none any more. */
export async function findDefinition(
  id: string,
  signal: AbortSignal,
): Promise<Definition | undefined> {
  try {
    return await loadDefinition(id, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * Saves the file of a saved query, and returns its name and its state from then on.
 *
 * @throws ApiError with the status 412 if it is no longer in the state `etag`.
 */
export async function saveDefinition(
  id: string,
  { text, etag }: Definition,
): Promise<{ readonly name: string; readonly etag: string }> {
  const headers = { 'Content-Type': 'application/sql', 'If-Match': etag };
  const response = await send(definitionPath(id), { method: 'PUT', text, headers });
  const { result } = (await response.json()) as { readonly result: EndpointInfo };
  return { name: result.name, etag: response.headers.get('ETag') ?? '' };
}

/** @throws ApiError with the status 412 if it is no longer in the state `etag`. */
export async function removeDefinition(id: string, etag: string): Promise<void> {
  await send(definitionPath(id), { method: 'DELETE', headers: { 'If-Match': etag } });
}

function definitionPath(id: string): string {
  return `api/endpoints/${encodeURIComponent(id)}`;
}

type ApiSchema = {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
};

type ApiParameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: ApiSchema;
};

/** What is read of an OpenAPI document. */
type ApiDocument = {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly get?: {
          readonly summary?: string;
          readonly description?: string;
          readonly parameters?: readonly ApiParameter[];
        };
      }
    >
  >;
};

const CALL_PATH = /^\/api\/endpoints\/([^/{}]+)$/;

/** Parameters of every call, which are no parameters of a query. */
const CALL_PARAMETERS: readonly string[] = ['explain', 'api_key', 'sql'];

function endpointsIn({ paths }: ApiDocument): readonly EndpointInfo[] {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const [, name] = CALL_PATH.exec(path) ?? [];
    if (name === undefined || get === undefined) return [];
    const parameters = (get.parameters ?? [])
      .filter((one) => one.in === 'query' && !CALL_PARAMETERS.includes(one.name))
      .map(({ name: parameter, required = false, schema }) => ({
        ...{ name: parameter, required, type: findKind(schema), enum: schema.enum },
        default: schema.default === undefined ? undefined : String(schema.default),
      }));
    return [{ name: decodeURIComponent(name), description: get.description ?? '', parameters }];
  });
}

function findKind({ type, format }: ApiSchema): ParameterKind {
  if (format === 'date-time') return 'timestamp';
  if (type === 'integer') return 'int64';
  if (type === 'number') return 'float64';
  return type === 'boolean' ? 'bool' : 'string';
}
