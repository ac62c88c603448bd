import { NORMALIZED_MARKS_MAX } from '../../../../engine/index.ts';
import type { StatementParts } from '../statement-parts.ts';
import { charactersOf } from './code-point-sql.ts';
import {
  type CallSql,
  checked,
  constantOf,
  type FunctionSql,
  refuseTypes,
  strict,
} from './function-sql.ts';

/** Functions that look at a text letter by letter. */
export const letterSql: Readonly<Record<string, FunctionSql>> = {
  initcap: capitalize,
  translate,
  soundex,
  normalize: normalizing((text) => text),
  normalize_and_casefold: normalizing(caseFold),
  instr: occurrence,
  contains_substr: containing,
};

const WORD_DELIMITERS = ' \t\n\v\f\r[](){}/|\\<>!?@"^#$&~_,.:;*%+-';

/** The first letter of each word in upper case, where that is one letter, and the others in lower case. */
function capitalize(call: CallSql): string {
  const { parts } = call;
  const [each, before] = [parts.variable(), parts.variable()];
  return strict(call, (text, delimiters = parts.text(WORD_DELIMITERS)) =>
    parts.once(charactersOf(text!, 'STRING', parts), (characters) =>
      parts.once(charactersOf(delimiters, 'STRING', parts), (ends) => {
        const capital = parts.once(
          `upperUTF8(${each})`,
          (upper) => `if(lengthUTF8(${upper}) = 1, ${upper}, ${each})`,
        );
        // Before the first character there is none.
        const isStart = `(${before} = '' OR has(${ends}, ${before}))`;
        const befores = `arrayPopBack(arrayPushFront(${characters}, ''))`;
        return `arrayStringConcat(arrayMap((${each}, ${before}) -> if(${isStart}, ${capital}, lowerUTF8(${each})), ${characters}, ${befores}))`;
      }),
    ),
  );
}

/** Each character of the second text becomes that of the third at its place, or nothing beyond its end. */
function translate(call: CallSql): string {
  const { parts } = call;
  const { kind } = call.types[0]!;
  const each = parts.variable();
  return strict(call, (text, source, target) =>
    parts.once(charactersOf(source!, kind, parts), (from) =>
      parts.once(charactersOf(target!, kind, parts), (to) => {
        const place = parts.once(
          `indexOf(${from}, ${each})`,
          (index) => `if(${index} = 0, ${each}, ${to}[greatest(${index}, 1)])`,
        );
        const value = `arrayStringConcat(arrayMap(${each} -> ${place}, ${charactersOf(text!, kind, parts)}))`;
        const isBad = `length(arrayDistinct(${from})) != length(${from})`;
        return checked(call, value, isBad, 'TRANSLATE takes each source character once');
      }),
    ),
  );
}

/** The sounds behind the first letter; of equal ones in a row one counts, be there vowels between them or not. */
function soundex(call: CallSql): string {
  const { parts } = call;
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const digits = '-123-12--22455-12623-1-2-2';
  return strict(call, (text) =>
    parts.once(`replaceRegexpAll(${text}, '[^A-Za-z]+', '')`, (plain) => {
      const sounds = `translate(upper(${plain}), '${letters}', '${digits}')`;
      const all = `arrayStringConcat(arrayCompact(extractAll(${sounds}, '[0-9]')))`;
      const rest = `substring(${all}, if(startsWith(${sounds}, '-'), 1, 2))`;
      return `if(${plain} = '', '', rightPad(substring(concat(substring(${plain}, 1, 1), ${rest}), 1, 4), 4, '0'))`;
    }),
  );
}

const FORMS: ReadonlySet<string> = new Set(['NFC', 'NFD', 'NFKC', 'NFKD']);

function normalizing(fold: (text: string, parts: StatementParts) => string): FunctionSql {
  return (call) => {
    const { parts } = call;
    const form = call.arguments.length === 1 ? 'NFC' : String(constantOf(call, 1)).toUpperCase();
    if (!FORMS.has(form)) return refuseTypes(call);
    const normal = (text: string) => `normalizeUTF8${form}(${text})`;
    return strict({ ...call, arguments: call.arguments.slice(0, 1) }, (text) => {
      const value = normal(fold(normal(text!), parts));
      const isBad = `match(${text}, '\\\\p{M}{${NORMALIZED_MARKS_MAX + 1}}')`;
      const message = `a text to be normalized may have at most ${NORMALIZED_MARKS_MAX} marks on one character`;
      return checked(call, value, isBad, message, 'query_limit');
    });
  };
}

/** Letter by letter, by way of the capital: `caseFold` of the engine. */
function caseFold(text: string, parts: StatementParts): string {
  const each = parts.variable();
  const isKept = `match(${each}, '[\\\\x{131}\\\\x{13a0}-\\\\x{13f5}]')`;
  return `arrayStringConcat(arrayMap(${each} -> if(${isKept}, ${each}, lowerUTF8(upperUTF8(${each}))), ${charactersOf(text, 'STRING', parts)}))`;
}

/** A text in another, letters in any case. */
function containing(call: CallSql): string {
  if (call.types.some(({ kind }) => kind !== 'STRING')) return refuseTypes(call);
  const { parts } = call;
  const [value, wanted] = call.arguments as [string, string];
  const folded = (text: string) =>
    `normalizeUTF8NFKC(${caseFold(`normalizeUTF8NFKC(assumeNotNull(${text}))`, parts)})`;
  return parts.once(value, (text) =>
    parts.once(wanted, (part) => {
      const found = `position(${folded(text)}, ${folded(part)}) > 0`;
      const isBad = `isNull(${part})`;
      const message = 'CONTAINS_SUBSTR takes a text to look for; got NULL';
      return checked(call, `if(isNull(${text}), NULL, ${found})`, isBad, message);
    }),
  );
}

/** The place of an occurrence of a text, counted from a position or backwards from it. Places may overlap. */
function occurrence(call: CallSql): string {
  const { parts } = call;
  const isOfBytes = call.types[0]!.kind === 'BYTES';
  const [count, cut] = isOfBytes ? ['length', 'substring'] : ['lengthUTF8', 'substringUTF8'];
  return strict(call, (text, wanted, position = 'toInt64(1)', number = 'toInt64(1)') =>
    parts.once(`toInt64(${count}(${text}))`, (size) => {
      const empty = `if(${position} > 0, toInt128(${position}) + ${number} - 1, toInt128(${size}) + ${position} + 3 - ${number})`;
      const ofEmpty = parts.once(
        empty,
        (place) => `if(${place} BETWEEN 1 AND ${size} + 1, toInt64(${place}), 0)`,
      );
      const start = `if(${position} > 0, ${position} - 1, ${size} + ${position})`;
      const found = parts.once(start, (from) => {
        // Where the text has the bytes of the wanted one.
        const at = parts.variable();
        const isThere = `substring(${text}, ${at}, length(${wanted})) = ${wanted}`;
        const first = `length(${cut}(${text}, 1, greatest(${from}, 0))) + 1`;
        const ahead = `arrayFilter(${at} -> ${at} >= ${first} AND ${isThere}, range(1, length(${text}) + 1))`;
        const back = `arrayReverse(arrayFilter(${at} -> ${at} <= ${first} AND ${isThere}, range(1, length(${text}) + 1)))`;
        const places = `if(${position} > 0, ${ahead}, ${back})`;
        const place = parts.once(
          places,
          (list) =>
            `if(${number} > length(${list}), 0, toInt64(${count}(substring(${text}, 1, ${list}[greatest(${number}, 1)] - 1))) + 1)`,
        );
        return `if(${from} < 0 OR ${from} >= ${size}, 0, ${place})`;
      });
      const isBad = `${position} = 0 OR ${number} <= 0`;
      const message = 'INSTR takes a position other than 0 and an occurrence of at least 1';
      return checked(call, `if(${wanted} = '', ${ofEmpty}, ${found})`, isBad, message);
    }),
  );
}
