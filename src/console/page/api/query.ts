import type { Row } from '../components/row-table.tsx';
import { ask, send } from './client.ts';

export type Column = { readonly name: string; readonly type: string };

/** A parameter of a query, as a person fills it in. */
export type QueryParameter = {
  readonly name: string;
  readonly type: ParameterType;
  readonly value: string;
};

export const PARAMETER_TYPES = ['STRING', 'INT64', 'FLOAT64', 'BOOL', 'TIMESTAMP'] as const;

export type ParameterType = (typeof PARAMETER_TYPES)[number];

export type QueryAnswer = {
  readonly rows: readonly Row[];
  readonly columns: readonly Column[];
  /** The number of rows at which the answer was cut; absent if it is whole. */
  readonly truncatedTo?: string;
  readonly warnings?: string;
  /** How long the query took, from its answer. */
  readonly timing: string;
};

/** Runs SQL that is not saved. */
export async function runQuery(
  sql: string,
  parameters: readonly QueryParameter[],
  signal: AbortSignal,
): Promise<QueryAnswer> {
  const json = { sql, parameters: toValues(parameters) };
  const asked = { method: 'POST', json, signal } as const;
  const response = await send('api/query?columns=true', asked);
  const { result, columns } = (await response.json()) as {
    readonly result: readonly Row[];
    readonly columns: readonly Column[];
  };
  const truncatedTo = response.headers.get('Weir-Truncated');
  const warnings = response.headers.get('Weir-Warnings');
  return {
    rows: result,
    columns,
    timing: response.headers.get('Server-Timing') ?? '',
    ...(truncatedTo !== null && { truncatedTo }),
    ...(warnings !== null && { warnings }),
  };
}

/** An operator of a plan, above those that it gets its rows from. */
export type PlanTree = {
  readonly line: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly inputs: readonly PlanTree[];
};

export type Explanation = {
  readonly physical: PlanTree;
  readonly run?: {
    readonly rowCount: number;
    readonly planMs: number;
    readonly queueMs: number;
    readonly runMs: number;
    readonly fragmentCount: number;
    /** In the order of the plan, read downwards. */
    readonly operators: readonly { readonly rowCount: number; readonly selfMs: number }[];
  };
};

/** Runs SQL and returns the plan with the work of each operator, without the rows. */
export async function explainQuery(
  sql: string,
  parameters: readonly QueryParameter[],
  signal: AbortSignal,
): Promise<Explanation> {
  const json = { sql, parameters: toValues(parameters) };
  const headers = { Accept: 'application/json' };
  const asked = { method: 'POST', json, headers, signal } as const;
  return ask<Explanation>('api/query?explain=true', asked);
}

/** Saves a query as an endpoint. */
export async function saveEndpoint(endpoint: {
  readonly name: string;
  readonly description: string;
  readonly query: string;
  readonly parameters: readonly QueryParameter[];
}): Promise<void> {
  const { name, description, query } = endpoint;
  const parameters = endpoint.parameters.map((one) => ({
    ...{ name: one.name, type: one.type.toLowerCase(), required: true },
  }));
  const json = { name, query, parameters, ...(description !== '' && { description }) };
  await ask('api/endpoints', { method: 'POST', json });
}

/** The parameters as the body of a query has them. */
export function toValues(parameters: readonly QueryParameter[]): Readonly<Record<string, object>> {
  return Object.fromEntries(
    parameters.map(({ name, type, value }) => [name, { type, value: toValue(type, value) }]),
  );
}

/** The service checks what is filled in: what is no number is sent as it is. */
function toValue(type: ParameterType, text: string): unknown {
  if (type === 'BOOL' && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  const number = Number(text);
  const isNumber = type === 'INT64' || type === 'FLOAT64';
  return isNumber && text.trim() !== '' && Number.isFinite(number) ? number : text;
}
