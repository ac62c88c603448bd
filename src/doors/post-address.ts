import { hint } from '../../engine/columns.ts';
import { ADDRESS_KEYS } from '../../ingest/known-key.ts';
import type { Source } from '../../ingest/source.ts';
import { authorizeSource, type Grant, mayLearnNames } from '../access/grant.ts';
import type { ParameterTexts } from '../definition/parameters.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { oneText } from '../http/query-string.ts';
import type { TransportRequest } from '../http/transport.ts';
import type { LogIntake } from '../store/log-intake.ts';

export const ADDRESS_HEADERS = ['x-source', 'x-collection'] as const;

export type AddressKey = (typeof ADDRESS_KEYS)[number];

/** The source that the URL names by one of `keys`, or else a header. */
export function findAddress(
  query: ParameterTexts,
  { headers }: Pick<TransportRequest, 'headers'>,
  keys: readonly AddressKey[] = ADDRESS_KEYS,
): string | undefined {
  for (const key of keys) {
    const text = oneText(query, key);
    if (text !== undefined && text !== '') return text;
  }
  for (const key of ADDRESS_HEADERS) {
    const text = headers[key];
    if (typeof text === 'string' && text.trim() !== '') return text.trim();
  }
  return undefined;
}

/** The source of a token's posts that name none. */
export function sourceOfToken(
  intake: Pick<LogIntake, 'findSource'>,
  { defaultSource }: Grant,
): Source | undefined {
  return defaultSource === undefined ? undefined : intake.findSource(defaultSource);
}

/**
 * The named source, or that of the token.
 *
 * @throws ServiceError when none is named, the token may not use it, or it does not exist.
 */
export function mustFindSource(
  intake: Pick<LogIntake, 'findSource' | 'listSources'>,
  address: string | undefined,
  grant: Grant,
): Source {
  if (address === undefined) {
    const own = sourceOfToken(intake, grant);
    if (own === undefined) {
      throw new ServiceError(
        'missing_source',
        'the source must be named by source_name or source, in the URL or in the body, or by the header X-Source; got none',
      );
    }
    authorizeSource(grant, own.name, own);
    return own;
  }
  const source = intake.findSource(address);
  authorizeSource(grant, address, source);
  if (source !== undefined) return source;
  throw unknownSource(address, intake, grant);
}

/** The error for a missing source: suggests similar names, and how to make one. */
export function unknownSource(
  address: string,
  intake: Pick<LogIntake, 'listSources'>,
  grant: Grant,
): ServiceError {
  const names = mayLearnNames(grant) ? intake.listSources().map(({ name }) => name) : [];
  const near = hint(address, names);
  return new ServiceError(
    'unknown_source',
    `there is no source ${echo(address)}${near}${near === '' ? ';' : ''} GET /api/sources lists them; PUT /api/sources/NAME adds one, with a token that has the scope manage`,
  );
}
