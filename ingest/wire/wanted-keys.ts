import { MalformedBodyError } from '../ingest-error.ts';

/** Number of keys that a refusal repeats, and characters of each. */
const KEYS_ECHOED = 3;
const KEY_ECHO_LENGTH_MAX = 32;

/**
 * Checks that an object has at least one key of its format. Otherwise a body for another product would be answered as
 * if it had been stored.
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

  /** @throws MalformedBodyError unless the object had a known key, or no key at all where it may be empty. */
  check(what: string, { mayBeEmpty }: { readonly mayBeEmpty: boolean }): void {
    if (this.#hasKnown || (mayBeEmpty && this.#unknownCount === 0)) return;
    const more = this.#unknownCount > KEYS_ECHOED ? ', …' : '';
    const got = this.#unknownCount === 0 ? 'no key' : `${this.#unknown.join(', ')}${more}`;
    const wanted = this.#known.map((key) => `"${key}"`).join(' or ');
    throw new MalformedBodyError(`${what} must have ${wanted}; got ${got}`);
  }
}
