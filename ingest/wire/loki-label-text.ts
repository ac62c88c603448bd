import { MalformedBodyError } from '../ingest-error.ts';
import { failTooManyFields } from '../json-decoder.ts';
import { EVENT_FIELDS_MAX } from '../limits.ts';
import { LokiLabelList, type LokiLabels } from './loki-event.ts';

/** Escapes of one letter in a string of Go (The Go Programming Language Specification, "Rune literals"). */
const LETTER_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ['"', '"'],
  ["'", "'"],
]);

/** Escapes with a code in hexadecimal digits, and their number. */
const CODE_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

const ASCII_MAX = 0x7f;
/** The largest code point of Unicode. */
const CODE_POINT_MAX = 0x10_ff_ff;
const REPLACEMENT = '\u{FFFD}';

/** Parts of a value that are held one by one: a value of millions of escapes would fill the heap with them. */
const PARTS_MAX = 1_024;

const SPACES = /[ \t\n\r]*/y;
const NAME = /[^ \t\n\r{}=,"]+/y;
/** The part of a quoted string up to an escape or the end. */
const PLAIN = /[^"\\]*/y;

/**
 * Parses the labels of a stream as Prometheus writes them, `{app="shop", env="prod"}`: values are quoted as Go quotes
 * strings (Prometheus, "Querying basics", string literals).
 *
 * @throws MalformedBodyError when the text is not of this form, EventLimitError when there are more labels than an event
 * may have fields.
 */
export function parseLokiLabels(text: string): LokiLabels {
  return new LabelText(text).parse();
}

class LabelText {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): LokiLabels {
    const labels = new LokiLabelList();
    this.#expect('{');
    for (let count = 0; !this.#take('}'); count++) {
      if (count === EVENT_FIELDS_MAX) failTooManyFields();
      const name = this.#match(NAME);
      if (name === '') this.#fail('a name or "}"');
      this.#expect('=');
      labels.add(name, JSON.stringify(this.#quoted()));
      if (this.#take(',')) continue;
      this.#expect('}', '"," or "}"');
      break;
    }
    this.#match(SPACES);
    if (this.#position < this.#text.length) this.#fail('the end');
    return labels.done();
  }

  #quoted(): string {
    if (this.#text[this.#position] !== '"') this.#fail('a value in quotes');
    this.#position += 1;
    let text = '';
    let parts: string[] = [];
    for (;;) {
      parts.push(this.#match(PLAIN));
      const next = this.#text[this.#position];
      this.#position += 1;
      if (next === '"') return text + parts.join('');
      if (parts.length >= PARTS_MAX) {
        text += parts.join('');
        parts = [];
      }
      if (next === undefined) this.#fail('the end of a quoted value');
      parts.push(this.#escaped());
    }
  }

  /** Behind a backslash. */
  #escaped(): string {
    const kind = this.#text[this.#position] ?? '';
    this.#position += 1;
    const letter = LETTER_ESCAPES.get(kind);
    if (letter !== undefined) return letter;
    const digitCount = CODE_ESCAPES.get(kind);
    if (digitCount === undefined) this.#fail('an escape of a quoted string');
    const digits = this.#text.slice(this.#position, this.#position + digitCount);
    const code = /^[0-9a-fA-F]+$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (digits.length < digitCount || !(code <= CODE_POINT_MAX)) {
      this.#fail(`${digitCount} hexadecimal digits of a character`);
    }
    this.#position += digitCount;
    // A byte, which Go escapes so where it is not UTF-8.
    return kind === 'x' && code > ASCII_MAX ? REPLACEMENT : String.fromCodePoint(code);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#position;
    const [found] = pattern.exec(this.#text) ?? [''];
    this.#position += found.length;
    return found;
  }

  /** Whether the mark is next, behind spaces. It is read then, and the spaces behind it. */
  #take(mark: string): boolean {
    this.#match(SPACES);
    if (this.#text[this.#position] !== mark) return false;
    this.#position += 1;
    this.#match(SPACES);
    return true;
  }

  #expect(mark: string, wanted = `"${mark}"`): void {
    if (!this.#take(mark)) this.#fail(wanted);
  }

  #fail(wanted: string): never {
    throw new MalformedBodyError(
      `the labels of a stream must have ${wanted} at character ${this.#position + 1}`,
    );
  }
}
