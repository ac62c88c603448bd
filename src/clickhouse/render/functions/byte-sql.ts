import { type CallSql, checked, type FunctionSql, strict } from './function-sql.ts';

/** BYTES written as texts and read from them, and digests. */
export const byteSql: Readonly<Record<string, FunctionSql>> = {
  to_hex: ({ arguments: [bytes] }) => `lower(hex(${bytes}))`,
  to_base64: ({ arguments: [bytes] }) => `base64Encode(${bytes})`,
  to_base32: ({ arguments: [bytes] }) => `base32Encode(${bytes})`,
  from_hex: (call) =>
    strict(call, (text) => {
      const isBad = `NOT match(${text}, '^[0-9a-fA-F]*$')`;
      const even = `concat(if(length(${text}) % 2 = 1, '0', ''), ${text})`;
      return checked(call, `unhex(${even})`, isBad, 'FROM_HEX takes hexadecimal digits');
    }),
  from_base64: fromBase64,
  from_base32: fromBase32,
  safe_convert_bytes_to_string: (call) =>
    strict(call, (bytes) => {
      const piece = call.parts.variable();
      const pieces = `extractAll(hex(${bytes}), '${UTF8_PIECE}')`;
      const text = `arrayMap(${piece} -> if(length(${piece}) = 2 AND ${piece} >= '80', 'EFBFBD', ${piece}), ${pieces})`;
      return `unhex(arrayStringConcat(${text}))`;
    }),
  // A digest is a text of a fixed length, which a cast may cut.
  md5: digest('MD5'),
  sha1: digest('SHA1'),
  sha256: digest('SHA256'),
  sha512: digest('SHA512'),
  farm_fingerprint: ({ arguments: [text] }) => `toInt64(farmFingerprint64(${text}))`,
};

/** In hexadecimal digits: a character of UTF-8 (RFC 3629, section 4), or a single byte. */
const UTF8_PIECE =
  '[0-7].|(?:C[2-9A-F]|D.)[89AB].|E0[AB].[89AB].|E[1-9A-CEF](?:[89AB].){2}|ED[89].[89AB].|F0[9AB].(?:[89AB].){2}|F[1-3](?:[89AB].){3}|F48.(?:[89AB].){2}|..';

function digest(name: string): FunctionSql {
  return ({ arguments: [bytes] }) => `unhex(hex(${name}(${bytes})))`;
}

/** The digits are filled up with those of zeros, and what these give is cut off. */
function fromBase64(call: CallSql): string {
  const { parts } = call;
  return strict(call, (text) =>
    parts.once(`replaceRegexpAll(${text}, '[ \\\\t\\\\n\\\\r\\\\f\\\\v]+', '')`, (digits) =>
      parts.once(`replaceRegexpOne(${digits}, '=+$', '')`, (bare) => {
        const count = `length(${bare})`;
        const isWritten = `match(${digits}, '^[A-Za-z0-9+/]*={0,2}$')`;
        const isUneven = `length(${digits}) != ${count} AND length(${digits}) % 4 != 0`;
        const isBad = `NOT ${isWritten} OR ${count} % 4 = 1 OR (${isUneven})`;
        const filled = `concat(${bare}, repeat('A', (4 - ${count} % 4) % 4))`;
        const bytes = `substring(tryBase64Decode(${filled}), 1, intDiv(${count} * 3, 4))`;
        return checked(call, bytes, isBad, 'FROM_BASE64 takes a text in base 64');
      }),
    ),
  );
}

function fromBase32(call: CallSql): string {
  const { parts } = call;
  return strict(call, (text) =>
    parts.once(`replaceRegexpOne(${text}, '=+$', '')`, (bare) => {
      const count = `length(${bare})`;
      const isPadded = `length(${text}) % 8 = 0 AND length(${text}) - ${count} < 8`;
      const isBad = `NOT (${isPadded}) OR ${count} % 8 IN (1, 3, 6) OR NOT match(${bare}, '^[A-Z2-7]*$')`;
      const filled = `concat(${bare}, repeat('A', (8 - ${count} % 8) % 8))`;
      const bytes = `substring(tryBase32Decode(${filled}), 1, intDiv(${count} * 5, 8))`;
      return checked(call, bytes, isBad, 'FROM_BASE32 takes a text in base 32');
    }),
  );
}
