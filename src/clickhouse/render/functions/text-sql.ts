import type { SqlType } from '../../../../engine/columns.ts';
import { literal, nullOf, storedType } from '../sql-type.ts';
import { concatArrays } from './array-sql.ts';
import { charactersOf } from './code-point-sql.ts';
import { checkedSize, growthOf } from './fill-sql.ts';
import {
  type CallSql,
  checked,
  constantOf,
  type FunctionSql,
  refuseTypes,
  strict,
} from './function-sql.ts';

/** White space as Unicode has it. */
const SPACES =
  '[\\t-\\r \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}]';

/** Functions of STRINGs, in characters, and of BYTES, in bytes. */
export const textSql: Readonly<Record<string, FunctionSql>> = {
  '||': (call) => (call.type.kind === 'ARRAY' ? concatArrays(call) : joined(call)),
  concat: joined,
  length: ofTexts(sizeOf),
  char_length: ofTexts(sizeOf),
  character_length: ofTexts(sizeOf),
  byte_length: ofTexts(({ arguments: [text] }) => `toInt64(length(${text}))`),
  octet_length: ofTexts(({ arguments: [text] }) => `toInt64(length(${text}))`),
  starts_with: ofTexts(({ arguments: [text, start] }) => `startsWith(${text}, ${start})`),
  ends_with: ofTexts(({ arguments: [text, end] }) => `endsWith(${text}, ${end})`),
  strpos: ofTexts((call) => {
    const [text, wanted] = call.arguments;
    return `toInt64(${named('position', call)}(${text}, ${wanted}))`;
  }),
  reverse: ofTexts((call) => `${named('reverse', call)}(${call.arguments[0]})`),
  // Those of STRINGs have the forms of all letters in Unicode, and those of BYTES of ASCII.
  lower: ofTexts((call) => `${named('lower', call)}(${call.arguments[0]})`),
  upper: ofTexts((call) => `${named('upper', call)}(${call.arguments[0]})`),
  split: ofTexts(split),
  replace: ofTexts(replaceAll),
  substr: ofTexts(substring),
  substring: ofTexts(substring),
  left: ofTexts(leftmost),
  right: ofTexts(rightmost),
  trim: ofTexts(trimming({ start: true, end: true })),
  ltrim: ofTexts(trimming({ start: true, end: false })),
  rtrim: ofTexts(trimming({ start: false, end: true })),
};

function joined(call: CallSql): string {
  // One text alone would be too few for ClickHouse.
  return ofTexts(({ arguments: values }) => `concat(${[...values, "''"].join(', ')})`)(call);
}

function ofTexts(render: FunctionSql): FunctionSql {
  return (call) => {
    const kinds = new Set(call.types.map(({ kind }) => kind));
    kinds.delete('INT64');
    const isPlain = kinds.size === 1 && (kinds.has('STRING') || kinds.has('BYTES'));
    return isPlain ? render(call) : refuseTypes(call);
  };
}

/** The function that counts characters, or bytes. */
function named(name: string, { types }: CallSql): string {
  return types[0]!.kind === 'BYTES' ? name : `${name}UTF8`;
}

function sizeOf(call: CallSql): string {
  return `toInt64(${named('length', call)}(${call.arguments[0]}))`;
}

/** Between separators that are constants. */
function split(call: CallSql): string {
  const { parts, type } = call;
  const separator = call.arguments.length === 1 ? ',' : constantOf(call, 1);
  if (separator === null) return nullOf(type);
  const { kind } = call.types[0]!;
  return parts.once(call.arguments[0]!, (text) => {
    const known = `assumeNotNull(${text})`;
    const between = literal(separator, { kind } as SqlType, { parts, span: call.span });
    const characters = `if(${known} = '', [''], ${charactersOf(known, kind, parts)})`;
    const pieces = separator === '' ? characters : `splitByString(${between}, ${known})`;
    return `CAST(if(isNull(${text}), [], [${pieces}]), '${storedType(type)}')`;
  });
}

function replaceAll(call: CallSql): string {
  return strict(call, (whole, sought, to) => {
    const replaced = `replaceAll(${whole}, if(${sought} = '', 'x', ${sought}), ${to})`;
    return call.parts.once(`if(${sought} = '', ${whole}, ${replaced})`, (text) =>
      checkedSize(call, text, growthOf(call, text, whole!)),
    );
  });
}

/** From 1, or from the end where negative; 0 counts as 1. Before the start of the text there is nothing. */
function substring(call: CallSql): string {
  const [text, position, length] = call.arguments as [string, string, string?];
  const { parts } = call;
  return parts.once(text, (whole) =>
    parts.once(position, (wanted) => {
      const size = `toInt64(${named('length', call)}(${whole}))`;
      // ClickHouse's own greatest passes over NULLs.
      const start = `multiIf(isNull(${wanted}), NULL, ${wanted} > 0, ${wanted}, ${wanted} = 0, 1, ${size} + ${wanted} >= 0, ${size} + ${wanted} + 1, 1)`;
      if (length === undefined) return cut(call, whole, start);
      return parts.once(length, (count) => {
        const value = cut(call, whole, start, atLeastZero(count));
        return checked(
          call,
          value,
          `isNotNull(${whole}) AND isNotNull(${wanted}) AND ${count} < 0`,
          'SUBSTR takes a length of at least 0',
        );
      });
    }),
  );
}

/** NULL where an argument is; `start` is at least 1. */
function cut(call: CallSql, text: string, start: string, count?: string): string {
  const name = named('substring', call);
  return count === undefined
    ? `${name}(${text}, ${start})`
    : `${name}(${text}, ${start}, ${count})`;
}

function atLeastZero(count: string): string {
  return `if(${count} < 0, 0, ${count})`;
}

function leftmost(call: CallSql): string {
  const [whole, count] = call.arguments as [string, string];
  const { parts } = call;
  return parts.once(count, (size) =>
    parts.once(whole, (text) => {
      const isBad = `isNotNull(${text}) AND ${size} < 0`;
      const start = cut(call, text, '1', atLeastZero(size));
      return checked(call, start, isBad, 'LEFT takes a length of at least 0');
    }),
  );
}

function rightmost(call: CallSql): string {
  const [text, count] = call.arguments as [string, string];
  const { parts } = call;
  return parts.once(text, (whole) =>
    parts.once(count, (size) => {
      const length = `toInt64(${named('length', call)}(${whole}))`;
      const start = `if(${atLeastZero(size)} >= ${length}, 1, ${length} - ${atLeastZero(size)} + 1)`;
      const isBad = `isNotNull(${whole}) AND ${size} < 0`;
      return checked(call, cut(call, whole, start), isBad, 'RIGHT takes a length of at least 0');
    }),
  );
}

/** Of white space, or of the characters of a constant text. */
function trimming(sides: { readonly start: boolean; readonly end: boolean }): FunctionSql {
  return (call) => {
    const { parts, type } = call;
    const set = call.arguments.length === 1 ? SPACES : setOf(call);
    if (set === undefined) return nullOf(type);
    if (set === '') return call.arguments[0]!;
    const empty = parts.text('');
    const behind = `replaceRegexpOne(${call.arguments[0]}, ${parts.text(`${set}+$`)}, ${empty})`;
    const text = sides.end ? behind : call.arguments[0]!;
    return sides.start ? `replaceRegexpOne(${text}, ${parts.text(`^${set}+`)}, ${empty})` : text;
  };
}

/** The characters of the second argument as a class of a regular expression; `undefined` where it is NULL. */
function setOf(call: CallSql): string | undefined {
  const value = constantOf(call, 1);
  if (value === null) return undefined;
  const characters = [...String(value)].map((each) => each.codePointAt(0)!);
  const isOfBytes = call.types[0]!.kind === 'BYTES';
  if (isOfBytes && characters.some((code) => code > 127)) return refuseTypes(call);
  if (characters.length === 0) return '';
  return `[${characters.map((code) => `\\x{${code.toString(16)}}`).join('')}]`;
}
