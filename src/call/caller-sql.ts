import type { Endpoint } from '../definition/endpoint.ts';
import type { ParameterTexts } from '../definition/parameters.ts';
import { ServiceError } from '../errors.ts';

/** Under this name a call brings an SQL text of its own. */
export const SQL_PARAMETER = 'sql';

/**
 * The SQL text of a call; `undefined` where there is none, or it is empty, or the endpoint takes none:
 * then the name is one that is not declared, and passed over as others are.
 *
 * @throws ServiceError when it is given twice.
 */
export function findCallerSql(
  texts: ParameterTexts,
  { definition }: Pick<Endpoint, 'definition'>,
): string | undefined {
  const given = definition.isSandboxed ? texts.get(SQL_PARAMETER) : undefined;
  if (given === undefined) return undefined;
  if (given.length > 1) {
    const message = `sql must be given once, in the query string or in the body; got ${given.length} of it`;
    throw new ServiceError('repeated_parameter', message, { parameter: SQL_PARAMETER });
  }
  return given[0] === '' ? undefined : given[0];
}
