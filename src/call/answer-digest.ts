import { createCipheriv, hash } from 'node:crypto';
import type { InstanceKey } from '../instance-key.ts';

/** Characters of a digest: 132 bits, so that two answers never share one by chance. */
const DIGEST_LENGTH = 22;

/** From this size on, a keyed digest takes less time than SHA-256. */
const KEYED_BYTES_MIN = 4_096;

const GHASH_KEY_SIZE = 16;
const MASK_KEY_SIZE = 32;
/**
 * A constant nonce: nothing is encrypted, and the tag, from which a fixed nonce would give away the
 * key, stays inside.
 */
const GHASH_NONCE = Buffer.alloc(12);

/**
 * Computes digests that differ for answers of different bytes, on one instance, also after a
 * restart. Short answers use part of their SHA-256. Longer ones use GMAC (NIST SP 800-38D), whose
 * 128 bits collide with a chance of 2^-108 even for answers of megabytes chosen by somebody without
 * the key. Seen tags could reveal the key, so only a hash of the tag with another key leaves
 * (Wegman and Carter's construction with a pseudorandom function).
 */
export class AnswerDigest {
  readonly #ghashKey: Uint8Array;
  readonly #maskKey: Uint8Array;

  constructor(instanceKey: InstanceKey) {
    const keys = instanceKey.derive('answer digests', GHASH_KEY_SIZE + MASK_KEY_SIZE);
    this.#ghashKey = keys.subarray(0, GHASH_KEY_SIZE);
    this.#maskKey = keys.subarray(GHASH_KEY_SIZE);
  }

  /** Computes the digest of an answer's rows. */
  digest(json: Uint8Array): string {
    const text =
      json.length < KEYED_BYTES_MIN
        ? hash('sha256', json, 'base64url')
        : hash('sha256', Buffer.concat([this.#tag(json), this.#maskKey]), 'base64url');
    return text.slice(0, DIGEST_LENGTH);
  }

  #tag(bytes: Uint8Array): Buffer {
    const cipher = createCipheriv('aes-128-gcm', this.#ghashKey, GHASH_NONCE);
    cipher.setAAD(bytes);
    cipher.final();
    return cipher.getAuthTag();
  }
}
