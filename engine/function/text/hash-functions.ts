import { createHash } from 'node:crypto';
import { BYTES, INT64, STRING } from '../../column/type.ts';
import { canonicalInteger, type Int64 } from '../number/int64.ts';
import {
  type FunctionDoc,
  type ScalarFunction,
  type ScalarOverload,
  scalarFunction,
  typed,
} from '../scalar-function.ts';
import { bufferOfBytes, bytesOfBuffer, bytesOfText } from './text-units.ts';

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

/**
 * FarmHash's Fingerprint64 (github.com/google/farmhash, `farmhashna::Hash64`), which never changes:
 * equal bytes have equal fingerprints in all programs that know it. Arithmetic is modulo 2^64.
 */
function farmFingerprint(bytes: string): Int64 {
  return canonicalInteger(BigInt.asIntN(64, hash64(bufferOfBytes(bytes))));
}

const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;

function wrapped(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

function hash64(data: Buffer): bigint {
  if (data.length <= 16) return hashTo16(data);
  if (data.length <= 32) return hash17To32(data);
  if (data.length <= 64) return hash33To64(data);
  return hashLong(data);
}

function fetch64(data: Buffer, at: number): bigint {
  return data.readBigUInt64LE(at);
}

function rotate(value: bigint, shift: bigint): bigint {
  return wrapped((value >> shift) | (value << (64n - shift)));
}

function shiftMix(value: bigint): bigint {
  return value ^ (value >> 47n);
}

function hash16(u: bigint, v: bigint, multiplier: bigint): bigint {
  const a = shiftMix(wrapped((u ^ v) * multiplier));
  const b = shiftMix(wrapped((v ^ a) * multiplier));
  return wrapped(b * multiplier);
}

function hashTo16(data: Buffer): bigint {
  const size = data.length;
  const multiplier = wrapped(K2 + BigInt(size) * 2n);
  if (size >= 8) {
    const a = wrapped(fetch64(data, 0) + K2);
    const b = fetch64(data, size - 8);
    const c = wrapped(rotate(b, 37n) * multiplier + a);
    const d = wrapped((rotate(a, 25n) + b) * multiplier);
    return hash16(c, d, multiplier);
  }
  if (size >= 4) {
    const a = BigInt(data.readUInt32LE(0));
    return hash16(BigInt(size) + (a << 3n), BigInt(data.readUInt32LE(size - 4)), multiplier);
  }
  if (size === 0) return K2;
  const y = BigInt(data[0]!) + (BigInt(data[size >> 1]!) << 8n);
  const z = BigInt(size) + (BigInt(data[size - 1]!) << 2n);
  return wrapped(shiftMix(wrapped(y * K2) ^ wrapped(z * K0)) * K2);
}

function hash17To32(data: Buffer): bigint {
  const size = data.length;
  const multiplier = wrapped(K2 + BigInt(size) * 2n);
  const a = wrapped(fetch64(data, 0) * K1);
  const b = fetch64(data, 8);
  const c = wrapped(fetch64(data, size - 8) * multiplier);
  const d = wrapped(fetch64(data, size - 16) * K2);
  return hash16(
    wrapped(rotate(wrapped(a + b), 43n) + rotate(c, 30n) + d),
    wrapped(a + rotate(wrapped(b + K2), 18n) + c),
    multiplier,
  );
}

function hash33To64(data: Buffer): bigint {
  const size = data.length;
  const multiplier = wrapped(K2 + BigInt(size) * 2n);
  const a = wrapped(fetch64(data, 0) * K2);
  const b = fetch64(data, 8);
  const c = wrapped(fetch64(data, size - 8) * multiplier);
  const d = wrapped(fetch64(data, size - 16) * K2);
  const y = wrapped(rotate(wrapped(a + b), 43n) + rotate(c, 30n) + d);
  const z = hash16(y, wrapped(a + rotate(wrapped(b + K2), 18n) + c), multiplier);
  const e = wrapped(fetch64(data, 16) * multiplier);
  const f = fetch64(data, 24);
  const g = wrapped((y + fetch64(data, size - 32)) * multiplier);
  const h = wrapped((z + fetch64(data, size - 24)) * multiplier);
  return hash16(
    wrapped(rotate(wrapped(e + f), 43n) + rotate(g, 30n) + h),
    wrapped(e + rotate(wrapped(f + a), 18n) + g),
    multiplier,
  );
}

type Pair = readonly [first: bigint, second: bigint];

/** Of the 32 bytes at `at`. */
function weakHash32(data: Buffer, at: number, seeds: Pair): Pair {
  const [w, x, y, z] = [0, 8, 16, 24].map((offset) => fetch64(data, at + offset)) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  const a = wrapped(seeds[0] + w);
  const b = rotate(wrapped(seeds[1] + a + z), 21n);
  const sum = wrapped(a + x + y);
  return [wrapped(sum + z), wrapped(b + rotate(sum, 44n) + a)];
}

const SEED = 81n;

/** 64 bytes a round; the last round takes the last 64 bytes, be they seen before or not. */
function hashLong(data: Buffer): bigint {
  let x = SEED;
  let y = wrapped(SEED * K1 + 113n);
  let z = wrapped(shiftMix(wrapped(y * K2 + 113n)) * K2);
  let v: Pair = [0n, 0n];
  let w: Pair = [0n, 0n];
  x = wrapped(x * K2 + fetch64(data, 0));
  const end = Math.floor((data.length - 1) / 64) * 64;
  for (let at = 0; at < end; at += 64) {
    x = wrapped(rotate(wrapped(x + y + v[0] + fetch64(data, at + 8)), 37n) * K1);
    y = wrapped(rotate(wrapped(y + v[1] + fetch64(data, at + 48)), 42n) * K1);
    x ^= w[1];
    y = wrapped(y + v[0] + fetch64(data, at + 40));
    z = wrapped(rotate(wrapped(z + w[0]), 33n) * K1);
    v = weakHash32(data, at, [wrapped(v[1] * K1), wrapped(x + w[0])]);
    w = weakHash32(data, at + 32, [wrapped(z + w[1]), wrapped(y + fetch64(data, at + 16))]);
    [x, z] = [z, x];
  }
  return lastRound(data, { x, y, z, v, w });
}

type Mix = {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
  readonly v: Pair;
  readonly w: Pair;
};

function lastRound(data: Buffer, mix: Mix): bigint {
  const multiplier = wrapped(K1 + ((mix.z & 0xffn) << 1n));
  const at = data.length - 64;
  let { x, y, z, v } = mix;
  let w: Pair = [wrapped(mix.w[0] + BigInt((data.length - 1) & 63)), mix.w[1]];
  v = [wrapped(v[0] + w[0]), v[1]];
  w = [wrapped(w[0] + v[0]), w[1]];
  x = wrapped(rotate(wrapped(x + y + v[0] + fetch64(data, at + 8)), 37n) * multiplier);
  y = wrapped(rotate(wrapped(y + v[1] + fetch64(data, at + 48)), 42n) * multiplier);
  x ^= wrapped(w[1] * 9n);
  y = wrapped(y + v[0] * 9n + fetch64(data, at + 40));
  z = wrapped(rotate(wrapped(z + w[0]), 33n) * multiplier);
  v = weakHash32(data, at, [wrapped(v[1] * multiplier), wrapped(x + w[0])]);
  w = weakHash32(data, at + 32, [wrapped(z + w[1]), wrapped(y + fetch64(data, at + 16))]);
  [x, z] = [z, x];
  return hash16(
    wrapped(hash16(v[0], w[0], multiplier) + wrapped(shiftMix(y) * K0) + z),
    wrapped(hash16(v[1], w[1], multiplier) + x),
    multiplier,
  );
}
