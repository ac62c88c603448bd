import { QueryError } from '../../query-error.ts';
import { compareText } from '../comparison.ts';
import { INT64_MIN } from '../number/int64.ts';
import { skipSpace, skipString } from './json-path.ts';

/** Levels of a value of type JSON, as in BigQuery: whoever reads one may recurse. */
export const JSON_VALUE_DEPTH_MAX = 500;

/** Whole numbers up to here, 2^64 - 1, are whole numbers of JSON; larger ones are doubles. */
const UINT64_MAX = 2n ** 64n - 1n;

/** Longer numbers stay as they are: a double has 309 digits before its point at most. */
const NUMBER_LENGTH_MAX = 400;

/**
 * Valid JSON as a value of type JSON is held, which is as Google's engine writes one: no space between
 * tokens, members by their names, the first of those with one name, characters as they are. A number
 * that is written as a fraction is a double, and shows it: `1.0`, `1e+20`. One that no double is
 * keeps its digits.
 */
export function normalJson(json: string): string {
  return new NormalForm(json).value(0);
}

/** Reads a text once, from its start; `#at` is where the next token begins. */
class NormalForm {
  readonly #json: string;
  #at = 0;

  constructor(json: string) {
    this.#json = json;
  }

  value(depth: number): string {
    this.#skipSpace();
    const first = this.#json[this.#at];
    if (first === '"') return normalString(this.#string());
    if (first !== '{' && first !== '[') return normalScalar(this.#word());
    if (depth === JSON_VALUE_DEPTH_MAX) {
      throw new QueryError('query_limit', `JSON may have at most ${JSON_VALUE_DEPTH_MAX} levels`);
    }
    this.#at++;
    return first === '[' ? `[${this.#elements(depth + 1)}]` : `{${this.#members(depth + 1)}}`;
  }

  #elements(depth: number): string {
    const elements: string[] = [];
    while (!this.#ends(']')) elements.push(this.value(depth));
    return elements.join(',');
  }

  #members(depth: number): string {
    const members = new Map<string, string>();
    while (!this.#ends('}')) {
      const name = JSON.parse(this.#string()) as string;
      this.#skipSpace();
      this.#at++; // The colon.
      const value = this.value(depth);
      if (!members.has(name)) members.set(name, value);
    }
    return [...members]
      .sort(([left], [right]) => compareText(left, right))
      .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
      .join(',');
  }

  /** Steps over a comma, or over the end. */
  #ends(end: string): boolean {
    this.#skipSpace();
    if (this.#json[this.#at] === ',') {
      this.#at++;
      this.#skipSpace();
    }
    if (this.#json[this.#at] !== end) return false;
    this.#at++;
    return true;
  }

  #string(): string {
    const start = this.#at;
    this.#at = skipString(this.#json, start);
    return this.#json.slice(start, this.#at);
  }

  /** A number, `true`, `false` or `null`. */
  #word(): string {
    WORD.lastIndex = this.#at;
    const [word] = WORD.exec(this.#json) as RegExpExecArray;
    this.#at = WORD.lastIndex;
    return word;
  }

  #skipSpace(): void {
    this.#at = skipSpace(this.#json, this.#at);
  }
}

const WORD = /[^\s,\]}]+/y;

/** Of what JSON allows between quotes, all but escapes and lone surrogates stands there as it is. */
function normalString(quoted: string): string {
  return /[\\\ud800-\udfff]/.test(quoted) ? JSON.stringify(JSON.parse(quoted)) : quoted;
}

function normalScalar(word: string): string {
  if (word === 'true' || word === 'false' || word === 'null') return word;
  if (word.length > NUMBER_LENGTH_MAX) return word;
  if (!/[.eE]/.test(word)) {
    const whole = BigInt(word);
    if (whole >= INT64_MIN && whole <= UINT64_MAX) return String(whole);
  }
  const value = Number(word);
  if (!Number.isFinite(value)) return word;
  const text = doubleJson(value);
  return decimalOf(text) === decimalOf(word) ? text : word;
}

/** A finite double as JSON writes it, never as a whole number: the shortest digits that are it. */
export function doubleJson(value: number): string {
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 15) {
    const text = Object.is(value, -0) ? '-0' : String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** One text for all ways to write a number: its digits without zeros at the ends, and their place. */
function decimalOf(number: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return `${sign}0`;
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
