import { MADE_TEXT_LENGTH_MAX } from '../../../../engine/columns.ts';
import { type CallSql, checked, type FunctionSql, strict } from './function-sql.ts';

/** Functions that make texts as long as they are told. */
export const fillSql: Readonly<Record<string, FunctionSql>> = {
  lpad: padding((text, fill) => `concat(${fill}, ${text})`),
  rpad: padding((text, fill) => `concat(${text}, ${fill})`),
  repeat: (call) =>
    strict(call, (text, count) => {
      const size = `toInt128(${lengthOf(call, text!)}) * ${count}`;
      // Constants are computed though they are not wanted.
      const isWanted = `${text} != '' AND ${size} BETWEEN 0 AND ${MADE_TEXT_LENGTH_MAX}`;
      const value = repeated(text!, `if(${isWanted}, ${count}, 0)`);
      const sized = checkedSize(call, value, size);
      return checked(call, sized, `${count} < 0`, 'REPEAT takes a count of at least 0');
    }),
};

/** As the engine counts: characters beyond U+FFFF twice. */
export function lengthOf({ types }: CallSql, text: string): string {
  if (types[0]!.kind === 'BYTES') return `length(${text})`;
  return `(lengthUTF8(${text}) + countMatches(${text}, '[\\\\x{10000}-\\\\x{10ffff}]'))`;
}

/** The length of a text that was made, where that is more than what it was made of; 0 elsewhere. */
export function growthOf(call: CallSql, text: string, given: string): string {
  const [made, before] = [lengthOf(call, text), lengthOf(call, given)];
  return `if(length(${text}) > ${MADE_TEXT_LENGTH_MAX} AND ${made} > ${before}, ${made}, 0)`;
}

/** The value, or an error where it would be too long. */
export function checkedSize(call: CallSql, value: string, size: string): string {
  const message = `${call.name.toUpperCase()} makes texts of at most ${MADE_TEXT_LENGTH_MAX} characters`;
  return checked(call, value, `${size} > ${MADE_TEXT_LENGTH_MAX}`, message, 'query_limit');
}

/** ClickHouse repeats a text a million times at most. */
function repeated(text: string, count: string): string {
  const block = `repeat(${text}, if(${count} >= 1024, 1024, 0))`;
  return `concat(repeat(${block}, intDiv(${count}, 1024)), repeat(${text}, ${count} % 1024))`;
}

function padding(join: (text: string, fill: string) => string): FunctionSql {
  return (call) => {
    const { parts } = call;
    const isOfBytes = call.types[0]!.kind === 'BYTES';
    const [count, cut] = isOfBytes ? ['length', 'substring'] : ['lengthUTF8', 'substringUTF8'];
    const name = call.name.toUpperCase();
    return strict(call, (text, length, pattern = "' '") =>
      parts.once(`greatest(${length}, 0) - toInt64(${count}(${text}))`, (missing) => {
        const times = `intDiv(${missing}, greatest(toInt64(${count}(${pattern})), 1)) + 1`;
        const fill = parts.once(
          times,
          (number) => `${cut}(${repeated(pattern, number)}, 1, ${missing})`,
        );
        const value = `if(${missing} <= 0, ${cut}(${text}, 1, greatest(${length}, 0)), ${join(text!, fill)})`;
        const filled = checked(
          call,
          value,
          `${pattern} = ''`,
          `${name} takes a pattern that is not empty`,
        );
        const sized = checkedSize(call, filled, length!);
        return checked(call, sized, `${length} < 0`, `${name} takes a length of at least 0`);
      }),
    );
  };
}
