import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Grant } from '../access/grant.ts';
import { toTenant } from '../access/tenant.ts';
import { parseSentParameters, type SentParameter } from '../call/sent-parameters.ts';
import type { ParameterTexts } from '../definition/parameters.ts';
import { TOKEN_PARAMETER } from '../definition/token-parameter.ts';
import { echo, echoValue } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { CALL_BODY_BYTES_MAX, DEFINITION_ROWS_MAX, ROWS_MAX_DEFAULT } from '../limits.ts';
import type { BodyReader } from './body.ts';
import { parseJson, textOfBody } from './json-body.ts';
import { readMediaType } from './media-type.ts';
import { oneText } from './query-string.ts';

/** A query that is no definition's. */
export type SentQuery = {
  readonly sql: string;
  readonly parameters: readonly SentParameter[];
  readonly rowsMax: number;
};

/** What the query string of such a call may ask for beside parameters. */
const QUERY_OPTIONS = ['explain', 'columns', 'max_rows'] as const;

const NOT_PARAMETERS: ReadonlySet<string> = new Set([...QUERY_OPTIONS, TOKEN_PARAMETER]);

const BODY = z.strictObject({
  sql: z.string(),
  parameters: z.record(z.string(), z.unknown()).optional(),
  max_rows: z.unknown().optional(),
});

/** The types of its body. One without a type is SQL. */
const TYPES = ['application/json', 'application/sql', 'text/plain'] as const;

type Sender = { readonly grant: Grant; readonly query: ParameterTexts };

/**
 * Reads a query: its text is the body, and its parameters stand in the query string, where each is
 * a STRING; or a JSON object has both.
 *
 * @throws ServiceError when it is not as it must be.
 */
export async function readSentQuery(
  request: Request,
  response: Response,
  bodies: BodyReader,
  { grant, query }: Sender,
): Promise<SentQuery> {
  const type = readMediaType(request.headers['content-type'], TYPES);
  const terms = { bytesMax: CALL_BODY_BYTES_MAX, tenant: toTenant(grant) };
  const text = await bodies.use(request, response, terms, async (pieces) =>
    textOfBody(Buffer.concat(pieces)),
  );
  const sent = type === 'application/json' ? parseQueryBody(parseJson(text)) : { sql: text };
  return toSentQuery(sent, query);
}

type QueryBody = z.infer<typeof BODY>;

/** @throws ServiceError when the value does not have what a query has. */
export function parseQueryBody(value: unknown): QueryBody {
  const parsed = BODY.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join('.') ?? '';
  const reason =
    issue?.code === 'unrecognized_keys'
      ? `got also ${issue.keys.map(echo).join(', ')}`
      : `got something else${place === '' ? '' : ` as ${place}`}`;
  throw new ServiceError(
    'invalid_body',
    `a query must be {"sql": "SELECT …", "parameters": {"name": value}, "max_rows": n}, the last two if needed; ${reason}`,
  );
}

/** @throws ServiceError when its text is empty, or something is wrong with its parameters. */
export function toSentQuery(
  { sql, parameters = {}, max_rows: given }: QueryBody,
  query: ParameterTexts,
): SentQuery {
  if (sql.trim() === '') {
    throw new ServiceError('missing_parameter', 'sql must be a query; got nothing', {
      parameter: 'sql',
    });
  }
  const inUrl = Array.from(query.keys())
    .filter((name) => !NOT_PARAMETERS.has(name))
    .map((name) => [name, oneText(query, name)] as const);
  return {
    sql,
    parameters: parseSentParameters([...inUrl, ...Object.entries(parameters)]),
    rowsMax: parseRowsMax(given, oneText(query, 'max_rows')),
  };
}

function parseRowsMax(given: unknown, inUrl: string | undefined): number {
  if (given === undefined && inUrl === undefined) return ROWS_MAX_DEFAULT;
  const value = given ?? (/^\d{1,9}$/.test(inUrl ?? '') ? Number(inUrl) : inUrl);
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= DEFINITION_ROWS_MAX) {
    return Number(value);
  }
  const message = `max_rows must be a whole number from 1 to ${DEFINITION_ROWS_MAX}; got ${echoValue(value)}`;
  throw new ServiceError('invalid_parameter', message, { parameter: 'max_rows' });
}
