import type { Span } from '../../../engine/columns.ts';
import type { JsonStep } from '../../../engine/index.ts';
import { UNSUPPORTED } from './refusal.ts';
import type { StatementParts } from './statement-parts.ts';

/**
 * JSON texts, of which ClickHouse tells the values but not how they are written. So they are prepared: of each number a
 * string is made that begins with `#`, each string begins with `$`, and backslashes, and the quotes behind them, are
 * characters that ClickHouse leaves alone. What is taken out of such a text becomes what stood in the text itself again.
 */
type Context = { readonly parts: StatementParts; readonly span: Span | undefined };

/** Of private use, for a backslash, and for a quote behind one. */
const BACKSLASH = '\uf8ff';
const QUOTE = '\uf8fe';

const TOKENS = '(?s)"(?:[^"\\\\]|\\\\.)*"|[-0-9][-+.0-9eE]*|[^-"0-9]+|"';
const STRING = '^"(?:[^"\\\\\\x00-\\x1f]|\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"$';
const NUMBER = '^-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$';

/** Whether numbers and strings are brought into the form that a value of type JSON has them in. */
type Form = { readonly normal: boolean };

/** The prepared text; an empty one of what is no JSON. `text` is no Nullable. */
export function preparedJson(
  text: string,
  context: Context,
  { normal }: Form = { normal: false },
): string {
  const { parts, span } = context;
  const each = parts.variable();
  const isText = `startsWith(${each}, '"')`;
  const isNumber = `match(${each}, '^[-0-9]')`;
  const isBad = `(${isText} AND NOT match(${each}, ${parts.text(STRING)})) OR (${isNumber} AND NOT match(${each}, ${parts.text(NUMBER)}))`;
  const string = normal ? normalString(each, context) : each;
  const number = normal ? numberText(each, parts) : each;
  const token = `multiIf(${isText}, concat('"$', ${escaped(`substring(${string}, 2)`, parts)}), ${isNumber}, concat('"#', ${number}, '"'), ${each})`;
  const message = `${UNSUPPORTED} JSON with the private characters U+F8FE and U+F8FF, or with escapes in names`;
  return parts.once(`extractAll(${text}, ${parts.text(TOKENS)})`, (tokens) => {
    const all = `arrayStringConcat(arrayMap(${each} -> ${token}, ${tokens}))`;
    return parts.once(`if(arrayExists(${each} -> ${isBad}, ${tokens}), '', ${all})`, (json) => {
      const isPrivate = `match(${text}, '[\\\\x{f8fe}\\\\x{f8ff}]')`;
      const isNamed = `match(${json}, ${parts.text(`${BACKSLASH}[^"]*"[ \t\n\r]*:`)})`;
      const failure = { code: 'query_failed', message, span } as const;
      const raised = parts.raise(`${isPrivate} OR ${isNamed}`, failure);
      return `if(${raised} = 0 AND isValidJSON(${json}), ${json}, '')`;
    });
  });
}

/** What stands between quotes, for ClickHouse to leave it alone. */
function escaped(string: string, parts: StatementParts): string {
  const [backslash, quote] = [BACKSLASH, QUOTE].map((character) => parts.text(character));
  // Pairs of backslashes come first: the second one escapes nothing.
  return replaced(string, [
    [parts.text('\\\\'), `concat(${backslash}, ${backslash})`],
    [parts.text('\\"'), `concat(${backslash}, ${quote})`],
    [parts.text('\\'), backslash!],
  ]);
}

function replaced(text: string, pairs: readonly (readonly [from: string, to: string])[]): string {
  return pairs.reduce((all, [from, to]) => `replaceAll(${all}, ${from}, ${to})`, text);
}

/** Without what ClickHouse itself puts before some characters: there are no other backslashes in a prepared text. */
function unescaped(json: string, parts: StatementParts): string {
  return replaced(json, [
    [parts.text('\\/'), "'/'"],
    [parts.text('\\u2028'), parts.text('\u2028')],
    [parts.text('\\u2029'), parts.text('\u2029')],
  ]);
}

/** What stood in the text itself, without white space between tokens. */
export function restoredJson(json: string, parts: StatementParts): string {
  const strings = replaced(unescaped(json, parts), [[`'"$'`, `'"'`]]);
  const numbers = `replaceRegexpAll(${strings}, '"#([^"]*)"', '\\\\1')`;
  return replaced(numbers, [
    [parts.text(BACKSLASH), parts.text('\\')],
    [parts.text(QUOTE), `'"'`],
  ]);
}

/** Where a value is: names, and positions from 1, as arguments of ClickHouse's functions. */
export type Steps = { readonly list: string; readonly isThere: string };

/** An element has a number in lists only; ClickHouse numbers the members of records, too. */
export function stepsSql(
  json: string,
  steps: readonly JsonStep[],
  { parts, span }: Context,
): Steps {
  const names = steps.map((step) =>
    typeof step === 'number' ? `toInt64(${step + 1})` : parts.text(`$${nameText(step)}`, span),
  );
  const tests = steps.flatMap((step, index) =>
    typeof step === 'number' ? [`${kindAt(json, names.slice(0, index))} = 'Array'`] : [],
  );
  return { list: [json, ...names].join(', '), isThere: tests.join(' AND ') || '1' };
}

/** As JSON writes it, without quotes. */
function nameText(name: string): string {
  return JSON.stringify(name)
    .slice(1, -1)
    .replace(/\\(["]?)/g, (_, quote) => `${BACKSLASH}${quote === '' ? '' : QUOTE}`);
}

function kindAt(json: string, names: readonly string[]): string {
  return `toString(JSONType(${[json, ...names].join(', ')}))`;
}

/** The prepared text of the value; an empty one where there is none. */
export function foundJson({ list, isThere }: Steps): string {
  return `if(${isThere}, JSONExtractRaw(${list}), '')`;
}

/** The elements of a prepared list. */
export function elementsOf(json: string): string {
  return `JSONExtractArrayRaw(${json})`;
}

/** A prepared scalar as a text; NULL for a null, a record, a list and nothing. */
export function scalarText(json: string, context: Context): string {
  const { parts } = context;
  return parts.once(json, (value) => {
    const number = `substring(${value}, 3, length(${value}) - 3)`;
    const isNone = `${value} IN ('', 'null') OR startsWith(${value}, '{') OR startsWith(${value}, '[')`;
    return `multiIf(${isNone}, NULL, startsWith(${value}, '"#'), ${number}, startsWith(${value}, '"'), ${decoded(value, context)}, ${value})`;
  });
}

/** The characters of a prepared string. */
function decoded(value: string, { parts, span }: Context): string {
  const json = restoredJson(value, parts);
  return parts.once(`JSONExtractString(${json})`, (text) => {
    const message = `${UNSUPPORTED} JSON with half a surrogate pair`;
    const failure = { code: 'query_failed', message, span } as const;
    // Of such a string ClickHouse makes an empty one.
    const raised = parts.raise(`${text} = '' AND length(${value}) > 3`, failure);
    return `if(${raised} = 0, ${text}, '')`;
  });
}

/** Levels of records and lists that are brought into their normal form; deeper ones are refused as they are met. */
const LEVELS_MAX = 6;

/** A text, prepared in normal form, as a value of type JSON is held: `normalJson` of the engine. */
export function normalText(json: string, context: Context): string {
  return restoredJson(sortedJson(json, context, LEVELS_MAX), context.parts);
}

/** Members stand in the order of their names, the first of each. */
function sortedJson(json: string, context: Context, levels: number): string {
  const { parts, span } = context;
  return parts.once(json, (value) => {
    const list = `startsWith(${value}, '[')`;
    const isNested = `(${list} OR startsWith(${value}, '{'))`;
    if (levels === 0) {
      const message = `${UNSUPPORTED} JSON of more than ${LEVELS_MAX} levels`;
      const raised = parts.raise(isNested, { code: 'query_failed', message, span });
      return `if(${raised} = 0, ${value}, '')`;
    }
    const [pair, name] = [parts.variable(), parts.variable()];
    const members = parts.once(`JSONExtractKeysAndValuesRaw(${value})`, (pairs) => {
      const names = `arrayMap(${pair} -> ${pair}.1, ${pairs})`;
      const first = `arrayFilter((${pair}, ${name}) -> indexOf(${names}, ${pair}.1) = ${name}, ${pairs}, arrayEnumerate(${pairs}))`;
      return `arraySort(${pair} -> ${pair}.1, ${first})`;
    });
    const elements = `arrayMap(${name} -> ('', ${name}), ${elementsOf(value)})`;
    const inner = sortedJson(`${pair}.2`, context, levels - 1);
    const text = `concat(if(${list}, '', concat('"', ${pair}.1, '":')), ${inner})`;
    const all = `arrayStringConcat(arrayMap(${pair} -> ${text}, if(${list}, ${elements}, ${members})), ',')`;
    return `if(${isNested}, concat(if(${list}, '[', '{'), ${all}, if(${list}, ']', '}')), ${value})`;
  });
}

/** Of what JSON allows between quotes, all but escapes stands there as it is. `string` is a name. */
function normalString(string: string, { parts, span }: Context): string {
  const decodedString = parts.once(`JSONExtractString(${string})`, (text) => {
    const message = `${UNSUPPORTED} JSON with half a surrogate pair`;
    const failure = { code: 'query_failed', message, span } as const;
    const raised = parts.raise(`${text} = ''`, failure);
    return `if(${raised} = 0, ${jsonString(text, parts)}, '')`;
  });
  return `if(position(${string}, ${parts.text('\\')}) > 0, ${decodedString}, ${string})`;
}

/** A STRING as JSON.stringify writes it, but for the two line breaks that JSON allows and JavaScript did not. */
export function jsonString(text: string, parts: StatementParts): string {
  return replaced(`toJSONString(${text})`, [
    [parts.text('\\/'), "'/'"],
    [parts.text('\\u2028'), parts.text('\u2028')],
    [parts.text('\\u2029'), parts.text('\u2029')],
  ]);
}

/** Longer numbers stay as they are. */
const NUMBER_LENGTH_MAX = 400;
const UINT64_MAX = "toInt128('18446744073709551615')";

/** A number as Google's engine writes it: one that is written as a fraction is a double, and shows it. */
function numberText(word: string, parts: StatementParts): string {
  return parts.once(word, (text) => {
    const whole = `toInt128OrNull(${text})`;
    const isWhole = `match(${text}, '^-?[0-9]{1,20}$') AND ${whole} >= -9223372036854775808 AND ${whole} <= ${UINT64_MAX}`;
    const near = `toFloat64OrZero(${text})`;
    const double = parts.once(decimalOf(text, parts), (written) =>
      parts.once(decimalOf(`toString(${near})`, parts), (shortest) => {
        const isExact = `isFinite(${near}) AND ${written} = ${shortest}`;
        return `if(${isExact}, ${doubleText(written, parts)}, ${text})`;
      }),
    );
    return `multiIf(length(${text}) > ${NUMBER_LENGTH_MAX}, ${text}, ifNull(${isWhole}, 0), toString(${whole}), ${double})`;
  });
}

/** Sign, digits without zeros at the ends, and the place of the last one: one for all ways to write a number. */
function decimalOf(number: string, parts: StatementParts): string {
  const pattern = parts.text('^(-?)([0-9]+)(?:\\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$');
  return parts.once(`extractGroups(${number}, ${pattern})`, (groups) => {
    const all = `replaceRegexpOne(concat(${groups}[2], ${groups}[3]), '^0+', '')`;
    return parts.once(all, (digits) => {
      const kept = `replaceRegexpOne(${digits}, '0+$', '')`;
      const exponent = `toInt64OrZero(replaceAll(${groups}[4], '+', '')) - toInt64(length(${groups}[3])) + toInt64(length(${digits})) - toInt64(length(${kept}))`;
      return `tuple(${groups}[1], ${kept}, if(${kept} = '', 0, ${exponent}))`;
    });
  });
}

/** A double of such a decimal, never as a whole number: with an exponent below 10^-4 and from 10^15 up. */
function doubleText(decimal: string, parts: StatementParts): string {
  const [sign, digits, place] = [1, 2, 3].map((index) => `${decimal}.${index}`);
  const size = `toInt64(length(${digits}))`;
  return parts.once(`${size} - 1 + ${place}`, (exponent) => {
    const behind = `concat(${digits}, repeat('0', toUInt64(greatest(${place}, 0))), '.0')`;
    const inside = `concat(substring(${digits}, 1, greatest(${size} + ${place}, 0)), '.', substring(${digits}, greatest(${size} + ${place}, 0) + 1))`;
    const before = `concat('0.', repeat('0', toUInt64(greatest(-${place} - ${size}, 0))), ${digits})`;
    const plain = `multiIf(${digits} = '', '0.0', ${place} >= 0, ${behind}, ${size} + ${place} > 0, ${inside}, ${before})`;
    const mantissa = `concat(substring(${digits}, 1, 1), if(${size} > 1, '.', ''), substring(${digits}, 2))`;
    const size10 = `leftPad(toString(abs(${exponent})), if(abs(${exponent}) > 99, 3, 2), '0')`;
    const scientific = `concat(${mantissa}, 'e', if(${exponent} < 0, '-', '+'), ${size10})`;
    return `concat(${sign}, if(${digits} = '' OR ${exponent} BETWEEN -4 AND 14, ${plain}, ${scientific}))`;
  });
}

/** A finite FLOAT64 as a JSON number that shows that it is one. */
export function doubleJson(value: string, parts: StatementParts): string {
  return parts.once(decimalOf(`toString(${value} + 0)`, parts), (decimal) =>
    doubleText(decimal, parts),
  );
}
