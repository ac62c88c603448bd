import { ClickHouseError } from '@clickhouse/client';
import { QueryError, type QueryErrorCode } from '../../engine/columns.ts';
import { type Failure, findFailure } from './render/statement-parts.ts';

type Told = { readonly code: QueryErrorCode; readonly message: string };

const TOO_LONG: Told = { code: 'query_timeout', message: 'the query took too long' };
const TOO_MUCH: Told = {
  code: 'query_limit',
  message: 'the query reads or gives more than one query may',
};
const TOO_LARGE: Told = {
  code: 'query_limit',
  message: 'the query needs more memory than one query may have',
};
const TOO_WIDE: Told = {
  code: 'query_limit',
  message: 'the query becomes a larger statement than ClickHouse takes',
};
const STOPPED: Told = { code: 'query_cancelled', message: 'the query was stopped at ClickHouse' };
const TOO_MANY: Told = { code: 'overloaded', message: 'ClickHouse runs as many queries as it may' };

/** Codes of ClickHouse (`src/Common/ErrorCodes.cpp` of its source) that say something of a query. */
const QUERY_CODES: ReadonlyMap<string, Told> = new Map([
  ['158', TOO_MUCH],
  ['159', TOO_LONG],
  ['160', TOO_LONG],
  ['191', TOO_MUCH],
  ['202', TOO_MANY],
  ['241', TOO_LARGE],
  ['307', TOO_MUCH],
  ['394', STOPPED],
  ['396', TOO_MUCH],
]);

/** Codes that say something of ClickHouse, its network and its users: they may be others a moment later. */
const AWAY_CODES: ReadonlySet<string> = new Set([
  ...[
    '60',
    '81',
    '192',
    '193',
    '194',
    '209',
    '210',
    '225',
    '236',
    '242',
    '243',
    '245',
    '279',
    '319',
  ],
  ...['497', '516', '518', '519', '722', '745', '999'],
]);

/** A column that a statement names is not in the table. */
const NO_COLUMN_CODES: ReadonlySet<string> = new Set(['10', '16', '47']);

/** Whether a statement failed because the table has no such column. */
export function isMissingColumn(error: unknown): boolean {
  return error instanceof ClickHouseError && NO_COLUMN_CODES.has(error.code);
}

/** ClickHouse cannot be used at present. */
function unavailable(cause: unknown): QueryError {
  return new QueryError(
    'store_unavailable',
    'ClickHouse, which has the events, cannot be reached at present',
    undefined,
    { cause },
  );
}

/**
 * What a caller is told of an error that the client of ClickHouse threw. `failures`: what the statement may raise. Errors
 * of ClickHouse that no statement of ours should meet come back as they are.
 */
export function toQueryError(error: unknown, failures: readonly Failure[]): unknown {
  if (error instanceof QueryError) return error;
  // The client throws others for all that happens between it and the server.
  if (!(error instanceof ClickHouseError)) return unavailable(error);
  // The client leaves out what ClickHouse begins its messages with.
  const failure = findFailure(`DB::Exception: ${error.message}`, failures);
  if (failure !== undefined) {
    return new QueryError(failure.code, failure.message, failure.span, { cause: error });
  }
  const known = isTooWide(error) ? TOO_WIDE : QUERY_CODES.get(error.code);
  if (known !== undefined) {
    return new QueryError(known.code, known.message, undefined, { cause: error });
  }
  return AWAY_CODES.has(error.code) ? unavailable(error) : error;
}

/** The code is one of any wrong argument. */
function isTooWide({ code, message }: ClickHouseError): boolean {
  return code === '36' && message.startsWith('Query tree is too big');
}
