import type { StatementParts } from '../statement-parts.ts';
import { type CallSql, checked, type FunctionSql, strict } from './function-sql.ts';

export const codePointSql: Readonly<Record<string, FunctionSql>> = {
  ascii: (call) =>
    strict(call, (text) =>
      call.parts.once(byteAt(text!, 1), (byte) =>
        checked(
          call,
          `toInt64(${byte})`,
          `${byte} > 127`,
          'ASCII takes a text that begins with an ASCII character',
        ),
      ),
    ),
  unicode: (call) => strict(call, (text) => codeOf(`substringUTF8(${text}, 1, 1)`, call.parts)),
  chr: (call) => strict(call, (code) => characterOfCode(call, code!)),
  to_code_points: (call) =>
    strict(call, (text) => {
      const { parts } = call;
      const each = parts.variable();
      if (call.types[0]!.kind === 'BYTES') {
        return `[arrayMap(${each} -> toInt64(${each}), ${bytesArray(text!, parts)})]`;
      }
      return `[arrayMap(${each} -> ${codeOf(each, parts)}, ${charactersOf(text!, 'STRING', parts)})]`;
    }),
  code_points_to_string: (call) =>
    ofCodes(call, {
      isBad: (code) => isNoCharacter(code),
      write: (code) => utf8Of(code),
      message: 'CODE_POINTS_TO_STRING takes Unicode code points',
    }),
  code_points_to_bytes: (call) =>
    ofCodes(call, {
      isBad: (code) => `(${code} < 0 OR ${code} > 255)`,
      write: (code) => `char(${code})`,
      message: 'CODE_POINTS_TO_BYTES takes numbers from 0 to 255',
    }),
};

/** A byte of a text as a number; 0 behind its end. */
function byteAt(text: string, position: number): string {
  return `reinterpretAsUInt8(substring(${text}, ${position}, 1))`;
}

/** BYTES as numbers. */
export function bytesArray(bytes: string, parts: StatementParts): string {
  const at = parts.variable();
  return `arrayMap(${at} -> reinterpretAsUInt8(substring(${bytes}, ${at}, 1)), range(1, length(${bytes}) + 1))`;
}

/** The characters of a STRING, or the bytes of BYTES, each as a text. */
export function charactersOf(text: string, kind: string, parts: StatementParts): string {
  if (kind !== 'BYTES') return `extractAll(${text}, '(?s).')`;
  const at = parts.variable();
  return `arrayMap(${at} -> substring(${text}, ${at}, 1), range(1, length(${text}) + 1))`;
}

/** The code point of a text of one character; 0 of an empty text (RFC 3629, section 3). */
function codeOf(character: string, parts: StatementParts): string {
  return parts.once(character, (text) => {
    const [first, second, third, fourth] = [1, 2, 3, 4].map(
      (position) => `toInt64(${byteAt(text, position)})`,
    );
    const [one, two, three] = [second, third, fourth].map((byte) => `${byte} % 64`);
    return `multiIf(${first} < 128, ${first}, ${first} < 224, ${first} % 32 * 64 + ${one}, ${first} < 240, ${first} % 16 * 4096 + ${one} * 64 + ${two}, ${first} % 8 * 262144 + ${one} * 4096 + ${two} * 64 + ${three})`;
  });
}

/** Halves of surrogate pairs are no characters. */
function isNoCharacter(code: string): string {
  return `(${code} < 0 OR ${code} > 1114111 OR ${code} BETWEEN 55296 AND 57343)`;
}

/** The UTF-8 of a code point. */
function utf8Of(code: string): string {
  const [one, two, three] = [1, 64, 4096].map((unit) => `128 + intDiv(${code}, ${unit}) % 64`);
  return `multiIf(${code} < 128, char(${code}), ${code} < 2048, char(192 + intDiv(${code}, 64), ${one}), ${code} < 65536, char(224 + intDiv(${code}, 4096), ${two}, ${one}), char(240 + intDiv(${code}, 262144), ${three}, ${two}, ${one}))`;
}

function characterOfCode(call: CallSql, code: string): string {
  const message = 'CHR takes Unicode code points';
  return checked(call, utf8Of(code), isNoCharacter(code), message);
}

function ofCodes(
  call: CallSql,
  of: {
    readonly isBad: (code: string) => string;
    readonly write: (code: string) => string;
    readonly message: string;
  },
): string {
  const code = call.parts.variable();
  return strict(call, (codes) => {
    const known = `arrayMap(${code} -> assumeNotNull(${code}), ${codes})`;
    const text = `arrayStringConcat(arrayMap(${code} -> ${of.write(code)}, ${known}))`;
    const isBad = `arrayExists(${code} -> ${of.isBad(code)}, ${known})`;
    return `if(has(${codes}, NULL), NULL, ${checked(call, text, isBad, of.message)})`;
  });
}
