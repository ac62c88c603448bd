import { bytesArray } from './code-point-sql.ts';
import { type CallSql, checked, type FunctionSql, refuseTypes, strict } from './function-sql.ts';

/** Operators on the 64 bits of an INT64, and on the bits of BYTES. */
export const bitSql: Readonly<Record<string, FunctionSql>> = {
  '&': bitwise('bitAnd'),
  '|': bitwise('bitOr'),
  '^': bitwise('bitXor'),
  '~': (call) =>
    isOfBytes(call)
      ? strict(call, (bytes) => mapped(call, [bytes!], ([byte]) => `bitXor(${byte}, 255)`))
      : `toInt64(bitNot(${call.arguments[0]}))`,
  '<<': shift('bitShiftLeft', shiftedLeft),
  '>>': shift('bitShiftRight', shiftedRight),
  bit_count: (call) =>
    strict(call, (value) =>
      isOfBytes(call)
        ? `toInt64(arraySum(arrayMap(${byteCount(call)}, ${bytesArray(value!, call.parts)})))`
        : `toInt64(bitCount(toUInt64(${value})))`,
    ),
};

function isOfBytes({ types }: CallSql): boolean {
  return types[0]!.kind === 'BYTES';
}

function byteCount({ parts }: CallSql): string {
  const byte = parts.variable();
  return `${byte} -> bitCount(${byte})`;
}

/** BYTES of one length, byte by byte. */
function mapped(
  { parts }: CallSql,
  bytes: readonly string[],
  map: (bytes: readonly string[]) => string,
): string {
  const names = bytes.map(() => parts.variable());
  const lists = bytes.map((each) => bytesArray(each, parts));
  return `arrayStringConcat(arrayMap((${names.join(', ')}) -> char(${map(names)}), ${lists.join(', ')}))`;
}

function bitwise(name: string): FunctionSql {
  return (call) => {
    const kinds = call.types.map(({ kind }) => kind);
    if (kinds.every((kind) => kind === 'INT64')) {
      return `toInt64(${name}(${call.arguments.join(', ')}))`;
    }
    if (!kinds.every((kind) => kind === 'BYTES')) return refuseTypes(call);
    return strict(call, (left, right) => {
      const isBad = `length(${left}) != length(${right})`;
      // Lists of different lengths are an error of ClickHouse's own.
      const equal = `if(${isBad}, ${left}, ${right})`;
      const value = mapped(call, [left!, equal], ([one, other]) => `${name}(${one}, ${other})`);
      return checked(call, value, isBad, `${call.name} takes BYTES of one length`);
    });
  };
}

function shift(
  name: string,
  ofBytes: (call: CallSql, bytes: string, count: string) => string,
): FunctionSql {
  return (call) =>
    strict(call, (value, count) => {
      const move = `toInt64(${name}(toUInt64(${value}), toUInt8(${count})))`;
      const moved = isOfBytes(call)
        ? ofBytes(call, value!, count!)
        : `if(${count} >= 64, toInt64(0), ${move})`;
      return checked(call, moved, `${count} < 0`, `${call.name} takes a count of at least 0`);
    });
}

/** What moves beyond the ends is gone, and zeros come. */
function shiftedLeft({ parts }: CallSql, bytes: string, count: string): string {
  return parts.once(bytesArray(bytes, parts), (list) =>
    parts.once(`least(${count}, toInt64(length(${bytes})) * 8)`, (bits) => {
      const at = parts.variable();
      const byteAt = (index: string) => `toUInt32(${list}[${index}])`;
      const whole = `intDiv(${bits}, 8)`;
      const pair = `bitOr(bitShiftLeft(${byteAt(`${at} + ${whole}`)}, 8), ${byteAt(`${at} + ${whole} + 1`)})`;
      const byte = `bitAnd(bitShiftRight(${pair}, toUInt8(8 - ${bits} % 8)), 255)`;
      return `arrayStringConcat(arrayMap(${at} -> char(${byte}), range(1, length(${bytes}) + 1)))`;
    }),
  );
}

function shiftedRight({ parts }: CallSql, bytes: string, count: string): string {
  return parts.once(bytesArray(bytes, parts), (list) =>
    parts.once(`least(${count}, toInt64(length(${bytes})) * 8)`, (bits) => {
      const at = parts.variable();
      // Before the first there is a byte of 0.
      const byteAt = (index: string) =>
        `if(${index} >= 1, toUInt32(${list}[greatest(${index}, 1)]), toUInt32(0))`;
      const place = `toInt64(${at}) - intDiv(${bits}, 8)`;
      const pair = `bitOr(bitShiftLeft(${byteAt(`${place} - 1`)}, 8), ${byteAt(place)})`;
      const byte = `bitAnd(bitShiftRight(${pair}, toUInt8(${bits} % 8)), 255)`;
      return `arrayStringConcat(arrayMap(${at} -> char(${byte}), range(1, length(${bytes}) + 1)))`;
    }),
  );
}
