import { createHash } from 'node:crypto';
import { BYTES, INT64, STRING } from '../../column/type.ts';
import { scalarFunction, typed } from '../definition.ts';
import type { ScalarFunction, ScalarOverload } from '../scalar-function.ts';
import { bytesOfBuffer, bytesOfText } from './byte-text.ts';
import { farmFingerprint } from './farm-fingerprint.ts';

export const hashFunctions: readonly ScalarFunction[] = [
  ...['md5', 'sha1', 'sha256', 'sha512'].map((name) =>
    scalarFunction(
      name,
      ...ofEither(BYTES, (bytes) =>
        bytesOfBuffer(createHash(name).update(bytes, 'latin1').digest()),
      ),
    ),
  ),
  scalarFunction('farm_fingerprint', ...ofEither(INT64, farmFingerprint)),
];

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
