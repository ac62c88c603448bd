/**
 * What is escaped inside the quotes of a text or a name: quotes and backslashes, what ends a line, and what is not seen
 * or turns the direction of the text around it. The SQL is shown to people.
 */
const ESCAPED = /[\\'`\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Names that need no backticks, behind a dot. */
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A STRING literal of GoogleSQL with this value. */
export function quoteText(text: string): string {
  return `'${text.replace(ESCAPED, escapeCharacter)}'`;
}

/** The name of a table, or of a field behind a dot. It may not be empty: SQL has no name for such a field. */
export function quoteName(name: string): string {
  return `\`${name.replace(ESCAPED, escapeCharacter)}\``;
}

/** The name of a field behind a dot, without backticks if it needs none. */
export function quoteField(name: string): string {
  return PLAIN_NAME.test(name) ? name : quoteName(name);
}

/** A TIMESTAMP, given in microseconds since the epoch. */
export function formatTimestamp(timestampUs: number): string {
  return `TIMESTAMP_MICROS(${timestampUs})`;
}

function escapeCharacter(character: string): string {
  if (character === '\\' || character === "'" || character === '`') return `\\${character}`;
  const hex = character.codePointAt(0)!.toString(16);
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
