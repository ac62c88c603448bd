import { may } from '../state/session.ts';
import { ask } from './client.ts';

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
        ...{ name: parameter, required, type: kindOf(schema), enum: schema.enum },
        default: schema.default === undefined ? undefined : String(schema.default),
      }));
    return [{ name: decodeURIComponent(name), description: get.description ?? '', parameters }];
  });
}

function kindOf({ type, format }: ApiSchema): ParameterKind {
  if (format === 'date-time') return 'timestamp';
  if (type === 'integer') return 'int64';
  if (type === 'number') return 'float64';
  return type === 'boolean' ? 'bool' : 'string';
}
