import { QueryError } from '../../engine/columns.ts';
import { compileRegex } from '../../engine/index.ts';
import { parseIsoTimestampUs } from '../definition/iso-timestamp.ts';
import { echo } from '../echo.ts';
import { findFields, isDeclared, type KnownField } from './field-path.ts';
import { type SearchTerm, searchError } from './search.ts';
import { formatTimestamp, quoteField, quoteText } from './sql-text.ts';

type FieldTerm = Extract<SearchTerm, { kind: 'field' }>;

/** A condition that a value of a field must meet: given the SQL of the value. */
type ValueCondition = (value: string) => string;

/**
 * The conditions of a search in GoogleSQL, over a table with the alias `t`. A field holds several values if a record
 * above it, or the field itself, is a list: one that meets the condition is enough, and with a `-` none may.
 *
 * @throws ServiceError for a field that is unknown or ambiguous and for a value that its field cannot have, with the place
 * in the text.
 */
export function formatConditions(
  text: string,
  terms: readonly SearchTerm[],
  known: readonly KnownField[],
): readonly string[] {
  return terms.map((term) => {
    checkValue(text, term);
    const condition =
      term.kind === 'message' ? formatMessage(term) : formatField(text, term, known);
    return term.isNegated ? `(${condition}) IS NOT TRUE` : condition;
  });
}

/** A pattern that RE2 does not take and a number that is too large are found here, where their place is known. */
function checkValue(text: string, term: SearchTerm): void {
  const { value } = term;
  if (value.kind === 'number' && !Number.isFinite(Number(value.text))) {
    throw searchError(text, `the number ${echo(value.text)} does not fit into FLOAT64`, term);
  }
  if (value.kind !== 'regex') return;
  try {
    compileRegex(value.pattern);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throw searchError(text, error.message, term);
  }
}

function formatMessage({ value }: Extract<SearchTerm, { kind: 'message' }>): string {
  if (value.kind === 'regex') return matches('t.event_message', value.pattern);
  return `CONTAINS_SUBSTR(t.event_message, ${quoteText(value.text)})`;
}

function formatField(text: string, term: FieldTerm, known: readonly KnownField[]): string {
  const fields = findFields(term.path, known);
  if (typeof fields === 'string') {
    const advice = term.isNegated ? '' : '. Put the word in quotes to search the message for it';
    throw searchError(text, `${fields}${advice}`, term);
  }
  const conditions = fields.map((field) => formatOne(text, term, field));
  if (conditions.length === 0) return 'FALSE';
  return conditions.length === 1 ? conditions[0]! : `(${conditions.join(' OR ')})`;
}

function formatOne(text: string, term: FieldTerm, field: KnownField): string {
  if (field.path[0] === 'timestamp' && isDeclared(field.path)) return formatTime(text, term);
  // A list or a record counts as there, whatever is in it.
  const wanted = term.value.kind === 'any' ? { ...field, isInLists: false, isAlone: true } : field;
  return formatAnyValue(wanted, (value) => compare(value, term, isDeclared(field.path)));
}

/** That a value of the field meets the condition. */
function formatAnyValue({ path, isInLists, isAlone }: KnownField, meets: ValueCondition): string {
  const from: string[] = [];
  let owner = 't';
  for (const key of path.slice(0, -1)) {
    const record = `r${from.length + 1}`;
    from.push(`UNNEST(${owner}.${quoteField(key)}) AS ${record}`);
    owner = record;
  }
  const value = `${owner}.${quoteField(path.at(-1)!)}`;
  const inList = `EXISTS (SELECT 1 FROM UNNEST(${value}) AS v WHERE ${meets('v')})`;
  if (from.length === 0) {
    if (!isInLists) return meets(value);
    return isAlone ? `(${meets(value)} OR ${inList})` : inList;
  }
  const exists = (tables: readonly string[], condition: string): string =>
    `EXISTS (SELECT 1 FROM ${tables.join(', ')} WHERE ${condition})`;
  if (!isInLists) return exists(from, meets(value));
  if (isAlone) return exists(from, `${meets(value)} OR ${inList}`);
  return exists([...from, `UNNEST(${value}) AS v`], meets('v'));
}

function compare(field: string, { operator, value }: FieldTerm, isText: boolean): string {
  switch (value.kind) {
    case 'any':
      return `${field} IS NOT NULL`;
    case 'regex':
      return matches(field, value.pattern);
    case 'text':
      return `${field} ${operator === ':' ? '=' : operator} ${quoteText(value.text)}`;
    case 'number': {
      const number = isText ? `SAFE_CAST(${field} AS FLOAT64)` : field;
      return `${number} ${operator} ${formatNumber(value.text)}`;
    }
  }
}

/** The column `timestamp` is compared with times only. */
function formatTime(text: string, term: FieldTerm): string {
  const { operator, value } = term;
  if (value.kind === 'any') return 't.timestamp IS NOT NULL';
  const written = value.kind === 'regex' ? `/${value.pattern}/` : value.text;
  const timestampUs = value.kind === 'regex' ? undefined : parseIsoTimestampUs(written);
  if (timestampUs === undefined) {
    const reason = `timestamp is compared with ISO 8601 times in quotes, as in timestamp>"2026-01-15T12:00:00Z"; got ${echo(written)}`;
    throw searchError(text, reason, term);
  }
  const sign = operator === ':' ? '=' : operator;
  return `t.timestamp ${sign} ${formatTimestamp(Number(timestampUs))}`;
}

function matches(value: string, pattern: string): string {
  return `REGEXP_CONTAINS(${value}, ${quoteText(pattern)})`;
}

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** A number literal; whole numbers beyond INT64 are FLOAT64. */
function formatNumber(text: string): string {
  const isWhole = /^-?\d+$/.test(text);
  if (isWhole && BigInt(text) >= INT64_MIN && BigInt(text) <= INT64_MAX) return text;
  return isWhole ? `${text}.0` : text;
}
