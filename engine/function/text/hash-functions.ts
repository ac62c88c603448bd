import { createHash } from 'node:crypto';
import { BYTES, INT64, STRING } from '../../column/type.ts';
import { scalarFunction, typed } from '../definition.ts';
import type { FunctionDoc } from '../function-doc.ts';
import type { ScalarFunction, ScalarOverload } from '../scalar-function.ts';
import { bytesOfBuffer, bytesOfText } from './byte-text.ts';
import { farmFingerprint } from './farm-fingerprint.ts';

export const hashFunctions: readonly ScalarFunction[] = [
  digest('md5', [
    'MD5 of BYTES or of the UTF-8 of a text: 16 bytes.',
    "TO_HEX(MD5('weir'))",
    "'57c6838eabf401f73f6dd50093408e33'",
  ]),
  digest('sha1', [
    'SHA-1 of BYTES or of the UTF-8 of a text: 20 bytes.',
    "TO_HEX(SHA1('weir'))",
    "'73359e52b959cf85f75158a9bf78501ee2c9f529'",
  ]),
  digest('sha256', [
    'SHA-256 of BYTES or of the UTF-8 of a text: 32 bytes.',
    "LEFT(TO_HEX(SHA256('weir')), 16)",
    "'9e1bd4e58bdc27cb'",
  ]),
  digest('sha512', [
    'SHA-512 of BYTES or of the UTF-8 of a text: 64 bytes.',
    "LEFT(TO_HEX(SHA512('weir')), 16)",
    "'f11512542fedc33d'",
  ]),
  scalarFunction(
    'farm_fingerprint',
    [
      'FarmHash Fingerprint64 of BYTES or of a text in UTF-8, as an INT64. It never changes, so it is suitable for sampling.',
      "FARM_FINGERPRINT('abc')",
      '2640714258260161385',
    ],
    ...ofEither(INT64, farmFingerprint),
  ),
];

function digest(name: string, doc: FunctionDoc): ScalarFunction {
  return scalarFunction(
    name,
    doc,
    ...ofEither(BYTES, (bytes) => bytesOfBuffer(createHash(name).update(bytes, 'latin1').digest())),
  );
}

/** Of BYTES, or of a STRING's UTF-8. */
function ofEither(
  result: ScalarOverload['result'],
  hash: (bytes: string) => string | number | bigint,
): readonly ScalarOverload[] {
  return [
    {
      parameters: [STRING],
      result,
      nulls: 'propagate',
      evaluate: typed((text: string) => hash(bytesOfText(text))),
    },
    { parameters: [BYTES], result, nulls: 'propagate', evaluate: typed(hash) },
  ];
}
