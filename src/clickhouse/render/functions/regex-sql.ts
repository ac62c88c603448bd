import { QueryError, type SqlType } from '../../../../engine/columns.ts';
import { compileRegex } from '../../../../engine/index.ts';
import { refuse } from '../refusal.ts';
import { nullOf, storedType } from '../sql-type.ts';
import { checkedSize, growthOf } from './fill-sql.ts';
import {
  type CallSql,
  checked,
  constantOf,
  type FunctionSql,
  failing,
  orFailure,
  refuseTypes,
  strict,
} from './function-sql.ts';
import { bytesOfLatin1, latin1 } from './latin-1-sql.ts';

/** RE2 patterns that are constants. ClickHouse uses RE2 itself, with `.` for line breaks, too, unless a flag says otherwise. */
export const regexSql: Readonly<Record<string, FunctionSql>> = {
  regexp_contains: withPattern((call, { source }) => {
    // ClickHouse finds the texts that a pattern needs only where it begins without a flag.
    const pattern = source.includes('.') ? `(?-s)${source}` : source;
    return `match(${call.arguments[0]}, ${bound(call, pattern)})`;
  }),
  regexp_extract: withPattern(extract, { groupsMax: 1 }),
  regexp_substr: withPattern(extract, { groupsMax: 1 }),
  regexp_extract_all: withPattern(extractAll, { groupsMax: 1 }),
  regexp_instr: withPattern(instr, { groupsMax: 1 }),
  regexp_replace: withPattern(replace),
};

type Pattern = {
  readonly source: string;
  readonly groupCount: number;
  /** Whether it may match an empty text, as far as that is easily seen. */
  readonly mayBeEmpty: boolean;
};

/** A call with a constant pattern. BYTES are looked at as texts of one character each. */
function withPattern(
  render: (call: CallSql, pattern: Pattern) => string,
  { groupsMax = 9_999 } = {},
): FunctionSql {
  return (call) => {
    const constant = constantOf(call, 1);
    if (constant === null) return nullOf(call.type);
    const pattern = orFailure(() => patternOf(String(constant), call, groupsMax));
    if (pattern instanceof QueryError) return failing(call, pattern);
    if (call.types[0]!.kind === 'STRING') return render(call, pattern);
    return call.types[0]!.kind === 'BYTES' ? ofBytes(call, pattern, render) : refuseTypes(call);
  };
}

function patternOf(source: string, { name }: CallSql, groupsMax: number): Pattern {
  const { program } = compileRegex(source);
  const groupCount = program.groupCount();
  if (groupCount > groupsMax) {
    const sentence = `${name.toUpperCase()} takes a pattern with at most one group; got ${groupCount}`;
    throw new QueryError('query_failed', sentence);
  }
  return { source, groupCount, mayBeEmpty: program.matcher('').find() || ASSERTION.test(source) };
}

/** What looks at the characters around a place, which may be empty there. */
const ASSERTION = /\\[bB]/;

function ofBytes(
  call: CallSql,
  pattern: Pattern,
  render: (call: CallSql, pattern: Pattern) => string,
): string {
  const text: SqlType = { kind: 'STRING' };
  const { parts, type } = call;
  const kinds = call.types.map(({ kind }) => kind);
  const asText = call.arguments.map((argument, index) =>
    kinds[index] === 'BYTES' && index !== 1 ? latin1(argument) : argument,
  );
  const isOfBytes = type.kind === 'BYTES';
  const value = render(
    {
      ...call,
      arguments: asText,
      types: call.types.map((each) => (each.kind === 'BYTES' ? text : each)),
      type: isOfBytes ? text : type,
    },
    pattern,
  );
  if (isOfBytes) return bytesOfLatin1(value);
  if (type.kind !== 'ARRAY') return value;
  const [list, each] = [parts.variable(), parts.variable()];
  return `arrayMap(${list} -> arrayMap(${each} -> ${bytesOfLatin1(each)}, ${list}), ${value})`;
}

function bound({ parts, span }: CallSql, pattern: string): string {
  return parts.text(pattern, span);
}

/** Where empty matches lie, the engine and ClickHouse say differently. */
function refuseEmpty(call: CallSql): never {
  const what = `${call.name.toUpperCase()} with a pattern that may match an empty text`;
  return refuse(what, call.span);
}

/** The one group of a pattern, as it stands in it. */
type Group = { readonly before: string; readonly inner: string; readonly behind: string };

/** `undefined` where the brackets are not plain to see. */
function groupOf(source: string): Group | undefined {
  if (/\\Q|\(\?P?</.test(source)) return undefined;
  // Escapes and classes hold no brackets of groups.
  const plain = source
    .replaceAll(/\\./gs, '..')
    .replaceAll(/\[\^?\]?(?:\[:\w+:\]|[^\]])*\]/g, (all) => '.'.repeat(all.length));
  const start = plain.search(/\((?!\?)/);
  let depth = 0;
  for (let at = start; at >= 0 && at < plain.length; at++) {
    if (plain[at] === '(') depth++;
    if (plain[at] === ')') depth--;
    if (depth > 0) continue;
    return {
      before: source.slice(0, start),
      inner: source.slice(start + 1, at),
      behind: source.slice(at + 1),
    };
  }
  return undefined;
}

/** Whether the only group of a pattern takes part in each match, as far as that is easily seen. */
function isGroupNeeded(source: string): boolean {
  const plain = source.replaceAll(/\\./gs, 'x').replaceAll(/\[\^?\]?(?:\[:\w+:\]|[^\]])*\]/g, 'x');
  // No alternatives, no repetition of groups, no flags.
  return !/\||\)[?*{]|\(\?/.test(plain);
}

/** Whether a group that is empty took no part in the match. */
function isGroupFull(source: string): boolean {
  const group = groupOf(source);
  if (group === undefined || /\\[bBAz]|[$^]/.test(group.inner)) return false;
  const inner = orFailure(() => compileRegex(group.inner));
  return !(inner instanceof QueryError) && !inner.program.matcher('').find();
}

/** The rest of the text from a position on, in which the pattern sees a whole text; NULL where there is none. */
function restAt(text: string, position: string | undefined): string {
  if (position === undefined) return text;
  const rest = `substringUTF8(${text}, greatest(${position}, 1))`;
  return `if(${position} > 1 AND ${position} > lengthUTF8(${text}), NULL, ${rest})`;
}

/** What a call says about the place of a match, beside the text and the pattern. */
function checkPlace(
  call: CallSql,
  value: string,
  numbers: readonly (string | undefined)[],
): string {
  const isBad = numbers.flatMap((each) => (each === undefined ? [] : [`${each} <= 0`]));
  if (isBad.length === 0) return value;
  const message = `${call.name.toUpperCase()} takes a position and an occurrence of at least 1`;
  return checked(call, value, isBad.join(' OR '), message);
}

/** Whether the first match is wanted. */
function isFirst(call: CallSql): boolean {
  const [, , , occurrence] = call.expressions;
  return occurrence === undefined || (occurrence.op === 'literal' && occurrence.value === 1);
}

/** The text before the first match, the match, and its group. At the end of a text only an empty one has a match. */
function firstMatch(
  call: CallSql,
  rest: string,
  pattern: string,
  body: (before: string, match: string, group: string) => string,
): string {
  const { parts } = call;
  return parts.once(rest, (text) =>
    parts.once(
      `extractGroups(ifNull(${text}, ''), ${bound(call, `^((?s:.*?))${pattern}`)})`,
      (groups) => {
        const isAtEnd = `(${text} != '' AND length(${groups}[1]) = length(${text}))`;
        const found = body(`${groups}[1]`, `${groups}[2]`, `${groups}[3]`);
        return `if(isNull(${text}) OR empty(${groups}) OR ${isAtEnd}, NULL, ${found})`;
      },
    ),
  );
}

function extract(call: CallSql, pattern: Pattern): string {
  const { source, groupCount } = pattern;
  const isNeeded = groupCount === 0 || isGroupNeeded(source);
  if (!isNeeded && !isGroupFull(source))
    return refuse(`${call.name.toUpperCase()} with this pattern`, call.span);
  const known = (value: string) => (isNeeded ? value : `nullIf(${value}, '')`);
  return strict(call, (text, _, position, occurrence) => {
    const rest = restAt(text!, position);
    const value = isFirst(call)
      ? firstMatch(call, rest, `((?-s)${source})`, (_before, match, group) =>
          known(groupCount === 0 ? match : group),
        )
      : laterMatch(call, { rest, pattern, occurrence: occurrence!, known });
    return checkPlace(call, value, [position, occurrence]);
  });
}

function laterMatch(
  call: CallSql,
  of: {
    readonly rest: string;
    readonly pattern: Pattern;
    readonly occurrence: string;
    readonly known: (value: string) => string;
  },
): string {
  const { rest, pattern, occurrence } = of;
  if (pattern.mayBeEmpty || ANCHORED.test(pattern.source)) return refuseEmpty(call);
  const all = `extractAll(ifNull(${rest}, ''), ${bound(call, `(?-s)${pattern.source}`)})`;
  return call.parts.once(
    all,
    (list) =>
      `if(${occurrence} > length(${list}), NULL, ${of.known(`${list}[greatest(${occurrence}, 1)]`)})`,
  );
}

/** Behind a match ClickHouse takes what is left for a whole text. */
const ANCHORED = /\^|\\A/;

function extractAll(call: CallSql, pattern: Pattern): string {
  if (pattern.mayBeEmpty || ANCHORED.test(pattern.source.replaceAll('[^', '[')))
    return refuseEmpty(call);
  return strict(call, (text) => {
    const found = `extractAll(${text}, ${bound(call, `(?-s)${pattern.source}`)})`;
    return `CAST([${found}], '${storedType(call.type)}')`;
  });
}

/** Where the match, or its group, begins or ends, in characters from 1; 0 where there is none. */
function instr(call: CallSql, { source, groupCount }: Pattern): string {
  if (!isFirst(call)) return refuse('REGEXP_INSTR of another match than the first', call.span);
  const group = groupCount === 0 ? undefined : groupOf(source);
  if (
    groupCount > 0 &&
    (group === undefined || !isGroupNeeded(source) || group.before.includes('('))
  ) {
    return refuse('REGEXP_INSTR with this pattern', call.span);
  }
  const pattern =
    group === undefined
      ? `((?-s))((?-s)${source})`
      : `((?-s)${group.before})((?-s)${group.inner})(?-s:${group.behind})`;
  return strict(call, (text, _, position, occurrence, end = 'toInt64(0)') => {
    const found = firstMatch(call, restAt(text!, position), pattern, (before, head, match) => {
      const start = `lengthUTF8(${before}) + lengthUTF8(${head}) + if(${end} = 1, lengthUTF8(${match}), 0)`;
      return `toInt64(${start}) + ${position ?? 1}`;
    });
    const message =
      'REGEXP_INSTR takes 0 (the start of the match) or 1 (its end) as its last argument';
    const placed = checkPlace(call, `ifNull(${found}, 0)`, [position, occurrence]);
    return checked(call, placed, `${end} NOT IN (0, 1)`, message);
  });
}

function replace(call: CallSql, pattern: Pattern): string {
  const replacement = constantOf(call, 2);
  if (replacement === null) return nullOf(call.type);
  const wrong = wrongReplacement(String(replacement), pattern);
  if (wrong !== undefined) return failing(call, wrong);
  if (pattern.mayBeEmpty) return refuseEmpty(call);
  const text = bound(call, `(?-s)${pattern.source}`);
  const written = call.parts.text(String(replacement), call.span);
  return strict(call, (whole) =>
    call.parts.once(`replaceRegexpAll(${whole}, ${text}, ${written})`, (replaced) =>
      checkedSize(call, replaced, growthOf(call, replaced, whole!)),
    ),
  );
}

function wrongReplacement(text: string, { groupCount }: Pattern): QueryError | undefined {
  for (const [token] of text.matchAll(/\\[0-9]|\\\\|\\/g)) {
    if (token === '\\\\') continue;
    if (token === '\\') {
      const sentence = 'in a replacement a backslash must precede a digit or a backslash';
      return new QueryError('query_failed', sentence);
    }
    if (Number(token[1]) > groupCount) {
      const sentence = `REGEXP_REPLACE has ${groupCount} groups in its pattern; the replacement refers to group ${token[1]}`;
      return new QueryError('query_failed', sentence);
    }
  }
  return undefined;
}
