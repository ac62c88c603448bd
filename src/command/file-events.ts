import { BODY_BYTES_MAX } from '../../ingest/limits.ts';
import { CommandFailure } from './command.ts';

/**
 * An item of a file, which may not be a valid event, and its position from 1: a line, or an index
 * in a list.
 */
export type FileEvent = {
  /** The text in one line. Each character is a byte. */
  readonly text: string;
  readonly place: number;
};

/** How a file separates events: one a line, or JSON values in a list or one after another. */
export type FileForm = 'lines' | 'list' | 'values';

/** How many characters are read to detect the form. */
const HEAD_LENGTH = 4096;

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

/** The text before the first event of a list, which may also be the only member of an object. */
const LIST_START = /^\s*(?:\{\s*"batch"\s*:\s*)?\[/;

/**
 * Reads the events of a file as a stream. Bytes stay unchanged, even if they are not UTF-8, because
 * the service handles them. `hasLines` means that the name of the file implies one event a line.
 */
export class FileEvents {
  readonly form: FileForm;
  readonly #rest: AsyncIterator<string>;
  /** The text that was read to detect the form, from the first event on. */
  readonly #head: string;

  private constructor(form: FileForm, head: string, rest: AsyncIterator<string>) {
    this.form = form;
    this.#head = head;
    this.#rest = rest;
  }

  static async open(
    input: AsyncIterable<Uint8Array>,
    { hasLines }: { readonly hasLines: boolean },
  ): Promise<FileEvents> {
    const pieces = decodeTexts(input);
    let head = '';
    while (head.length < HEAD_LENGTH) {
      const { done, value } = await pieces.next();
      if (done === true) break;
      head += value;
    }
    if (head.startsWith(BYTE_ORDER_MARK)) head = head.slice(BYTE_ORDER_MARK.length);
    const [start] = hasLines ? [] : (LIST_START.exec(head) ?? []);
    if (start !== undefined) return new FileEvents('list', head.slice(start.length), pieces);
    const isBroken = !hasLines && /^\s*\{(?:[^\n]*[{[,])?[ \t\r]*\n/.test(head);
    return new FileEvents(isBroken ? 'values' : 'lines', head, pieces);
  }

  /**
   * @throws CommandFailure for an event that exceeds the limit of a post, and for a list without
   * its end.
   */
  async *read(): AsyncGenerator<FileEvent> {
    const splitter = this.form === 'lines' ? new LineSplitter() : new ValueSplitter(this.form);
    yield* splitter.push(this.#head);
    for (;;) {
      const { done, value } = await this.#rest.next();
      if (done === true) break;
      yield* splitter.push(value);
    }
    yield* splitter.end();
  }
}

async function* decodeTexts(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const { buffer, byteOffset, length } of input) {
    yield Buffer.from(buffer, byteOffset, length).toString('latin1');
  }
}

/** @throws CommandFailure */
function checkLength(length: number, what: string): void {
  if (length <= BODY_BYTES_MAX) return;
  throw new CommandFailure(`a post has at most ${BODY_BYTES_MAX} bytes; ${what} has more`);
}

class LineSplitter {
  #rest = '';
  #lineCount = 0;

  *push(piece: string): Generator<FileEvent> {
    const lines = piece.split('\n');
    const last = lines.pop()!;
    for (const line of lines) {
      yield* this.#line(this.#rest + line);
      this.#rest = '';
    }
    this.#rest += last;
    checkLength(this.#rest.length, `line ${this.#lineCount + 1}`);
  }

  *end(): Generator<FileEvent> {
    yield* this.#line(this.#rest);
  }

  *#line(line: string): Generator<FileEvent> {
    this.#lineCount += 1;
    checkLength(line.length, `line ${this.#lineCount}`);
    const text = line.trim();
    if (text !== '') yield { text, place: this.#lineCount };
  }
}

/** Splits values at their brackets. The service parses the values themselves. */
class ValueSplitter {
  readonly #form: FileForm;
  #value = '';
  #count = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isListOver = false;

  constructor(form: FileForm) {
    this.#form = form;
  }

  *push(piece: string): Generator<FileEvent> {
    let start = 0;
    for (let index = 0; index < piece.length; index++) {
      const end = this.#findEnd(piece[index]!);
      if (end === 'none') continue;
      this.#value += piece.slice(start, end === 'behind' ? index + 1 : index);
      start = index + 1;
      yield* this.#take();
    }
    this.#value += piece.slice(start);
    checkLength(this.#value.length, `event ${this.#count + 1}`);
  }

  /** An unterminated value is sent as it is, so that the service refuses it with a reason. */
  *end(): Generator<FileEvent> {
    const isCut = this.#form === 'list' && !this.#isListOver;
    if (this.#isListOver && /[^\s}]/.test(this.#value)) {
      throw new CommandFailure('nothing may follow the list of events; got more');
    }
    if (!this.#isListOver) yield* this.#take();
    if (isCut)
      throw new CommandFailure('the list of events must end with ]; got the end of the file');
  }

  /** Whether a value ends before or after the character, or not here. */
  #findEnd(character: string): 'before' | 'behind' | 'none' {
    if (this.#isListOver) return 'none';
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === '\\') this.#isEscaped = true;
      else if (character === '"') this.#isInString = false;
      return 'none';
    }
    if (character === '"') this.#isInString = true;
    else if (character === '{' || character === '[') this.#depth += 1;
    else if (character === '}' || character === ']') {
      if (this.#depth === 0 && this.#form === 'list' && character === ']') {
        this.#isListOver = true;
        return 'before';
      }
      this.#depth = Math.max(0, this.#depth - 1);
      return this.#depth === 0 && this.#form === 'values' ? 'behind' : 'none';
    } else if (character === ',' && this.#depth === 0 && this.#form === 'list') return 'before';
    return 'none';
  }

  *#take(): Generator<FileEvent> {
    // Between JSON tokens, a newline is equivalent to a space.
    const text = this.#value.trim().replaceAll(/[\r\n]/g, ' ');
    this.#value = '';
    if (text === '') return;
    this.#count += 1;
    checkLength(text.length, `event ${this.#count}`);
    yield { text, place: this.#count };
  }
}
