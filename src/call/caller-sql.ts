import type { Endpoint } from '../definition/endpoint.ts';
import type { ParameterTexts } from '../definition/parameters.ts';
import { ServiceError } from '../errors.ts';

/** The parameter with which a call sends its own SQL text. */
export const SQL_PARAMETER = 'sql';

/**
 * Finds the SQL text of a call. Returns `undefined` if it is absent or empty, or if the endpoint
 * takes none; then the parameter is ignored like others that are not declared.
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
