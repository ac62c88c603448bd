const RANDOM = 'the same data gives the same answer, so nothing is random';

/**
 * Functions of GoogleSQL that a text may not call here, or of PostgreSQL that have another name, and why.
 * They are known so that nobody looks for a slip of the pen.
 */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['rand', RANDOM],
  ['generate_uuid', RANDOM],
  ['now', 'the time of the query is CURRENT_TIMESTAMP()'],
  ['session_user', 'a query runs for a token, and no token is a user'],
  ['net.reg_domain', 'there is no list of public suffixes; REGEXP_EXTRACT may do'],
  ['net.public_suffix', 'there is no list of public suffixes; REGEXP_EXTRACT may do'],
]);

/** The reason why a call of that name, in lower case, is refused; `undefined` for other names. */
export function whyRefused(name: string): string | undefined {
  return REFUSED.get(name);
}
