import { MalformedBodyError } from '../ingest-error.ts';

/** Keys that a refusal repeats, and characters of each. */
const KEYS_ECHOED = 3;
const KEY_ECHO_LENGTH_MAX = 32;

/**
 * What an object had for keys: one of a format has to have one that is known there. Without this a body that was meant
 * for another receiver is answered as if it were stored.
 */
export class WantedKeys {
  readonly #known: readonly string[];
  #hasKnown = false;
  #unknownCount = 0;
  readonly #unknown: string[] = [];

  constructor(...known: readonly string[]) {
    this.#known = known;
  }

  add(key: string): void {
    if (this.#known.includes(key)) this.#hasKnown = true;
    else if (this.#unknownCount++ < KEYS_ECHOED) {
      this.#unknown.push(JSON.stringify(key.slice(0, KEY_ECHO_LENGTH_MAX)));
    }
  }

  /** @throws MalformedBodyError unless there was one that is known, or none at all where an object may be empty. */
  check(what: string, { mayBeEmpty }: { readonly mayBeEmpty: boolean }): void {
    if (this.#hasKnown || (mayBeEmpty && this.#unknownCount === 0)) return;
    const more = this.#unknownCount > KEYS_ECHOED ? ', …' : '';
    const got = this.#unknownCount === 0 ? 'no key' : `${this.#unknown.join(', ')}${more}`;
    const wanted = this.#known.map((key) => `"${key}"`).join(' or ');
    throw new MalformedBodyError(`${what} must have ${wanted}; got ${got}`);
  }
}
