import { yieldToEventLoop } from '../event-loop.ts';
import { BodyLimitError, MalformedBodyError } from '../ingest-error.ts';
import {
  BODY_EVENTS_MAX,
  DECODE_SLICE_BYTES,
  REFUSALS_LISTED_MAX,
  TRANSLATED_BYTES_MAX,
} from '../limits.ts';

/** An event of a sender's format. Each member is the JSON text of its value. */
export type WireEvent = {
  readonly id?: string | undefined;
  readonly timestamp?: string | undefined;
  readonly message?: string | undefined;
  readonly project?: string | undefined;
  /** The text of an object. */
  readonly metadata?: string;
};

/** The members of a `WireEvent`, with their keys in weir's JSON. */
const MEMBERS = [
  ['id', 'id'],
  ['timestamp', 'timestamp'],
  ['message', 'event_message'],
  ['project', 'project'],
  ['metadata', 'metadata'],
] as const satisfies readonly (readonly [keyof WireEvent, string])[];

/**
 * The events of one body as weir's JSON, as the JSON door accepts them. An event may have an address of its own
 * (Elasticsearch names an index with each event); `undefined` stands for that of the body.
 */
export class EventTexts {
  /** The source that the body names, if its format has a place for it. */
  bodyAddress: string | undefined;
  /** Whether the body was not valid UTF-8, so that events hold U+FFFD. */
  isRepaired = false;
  readonly #texts: string[] = [];
  /** Numbers of the addresses, in the order of their first events. */
  readonly #addresses = new Map<string | undefined, number>();
  /** The address number of each event. */
  readonly #addressNumbers: number[] = [];
  /** The reasons of the first REFUSALS_LISTED_MAX refused events, by ordinal. */
  readonly #reasons = new Map<number, string>();
  #refusedCount = 0;
  #partCount = 0;
  #size = 0;

  /** Number of events for all addresses. */
  get count(): number {
    return this.#texts.length;
  }

  /** Bytes of all texts. */
  get size(): number {
    return this.#size;
  }

  /**
   * Adds an event.
   *
   * @throws BodyLimitError if a limit of the body is exceeded.
   */
  add(event: WireEvent, address?: string): void {
    this.addText(eventText(event), address);
  }

  /**
   * Adds an event that is weir's JSON already.
   *
   * @throws BodyLimitError if a limit of the body is exceeded.
   */
  addText(text: string, address?: string): void {
    if (this.count === BODY_EVENTS_MAX) {
      throw new BodyLimitError(`a body may hold ${BODY_EVENTS_MAX} events; got more`);
    }
    this.#size += Buffer.byteLength(text);
    if (this.#size > TRANSLATED_BYTES_MAX) {
      throw new BodyLimitError(
        `the events of a body may have ${TRANSLATED_BYTES_MAX} bytes after shared labels and attributes are copied into each; got more`,
      );
    }
    this.#texts.push(text);
    this.#addressNumbers.push(this.#getNumber(address));
  }

  /**
   * Counts a part of the body that may hold events: a stream, a resource, a scope. An empty one costs as much as an
   * event.
   *
   * @throws BodyLimitError if there are more parts than a body may have events.
   */
  addPart(): void {
    if (++this.#partCount > BODY_EVENTS_MAX) {
      throw new BodyLimitError(
        `a body may have ${BODY_EVENTS_MAX} streams, resources and scopes; got more`,
      );
    }
  }

  /** Adds the result of translating an event: its text, or the reason for refusing it. */
  addPosted(posted: string | Error, address?: string): void {
    if (posted instanceof Error) this.addRefused(posted, address);
    else this.addText(posted, address);
  }

  /** Adds a value that is not an event. It is refused, and the other events are stored. */
  addRefused({ message }: Error, address?: string): void {
    if (this.#reasons.size < REFUSALS_LISTED_MAX) this.#reasons.set(this.count, message);
    this.#refusedCount++;
    // `null` is not an object, so admission refuses and counts it.
    this.addText('null', address);
  }

  /** The reason for refusing an event, if it is known before admission. */
  findReason(ordinal: number): string | undefined {
    return this.#reasons.get(ordinal);
  }

  /** @throws MalformedBodyError if there are events and all of them are refused already. */
  mustHaveEvent(): void {
    const [first] = this.#reasons.values();
    if (first !== undefined && this.#refusedCount === this.count) {
      throw new MalformedBodyError(first);
    }
  }

  /** The addresses of the events, in the order of their first events. */
  get addresses(): readonly (string | undefined)[] {
    return [...this.#addresses.keys()];
  }

  /** The ordinals of the events for some addresses, ascending. Addresses are given as indexes into `addresses`. */
  listOrdinals(addresses: Iterable<number>): readonly number[] {
    const isWanted = new Uint8Array(this.#addresses.size);
    for (const address of addresses) isWanted[address] = 1;
    const ordinals: number[] = [];
    for (const [ordinal, address] of this.#addressNumbers.entries()) {
      if (isWanted[address] === 1) ordinals.push(ordinal);
    }
    return ordinals;
  }

  /** A body for the JSON door with these events, in pieces. Yields to the event loop every DECODE_SLICE_BYTES. */
  async body(ordinals: readonly number[]): Promise<readonly Buffer[]> {
    const pieces: Buffer[] = [];
    let texts: string[] = [];
    let length = 0;
    for (const [index, ordinal] of ordinals.entries()) {
      const text = this.#texts[ordinal]!;
      texts.push(text);
      length += text.length;
      if (length < DECODE_SLICE_BYTES || index === ordinals.length - 1) continue;
      pieces.push(Buffer.from(`${pieces.length === 0 ? '[' : ''}${texts.join(',')},`));
      texts = [];
      length = 0;
      await yieldToEventLoop();
    }
    pieces.push(Buffer.from(`${pieces.length === 0 ? '[' : ''}${texts.join(',')}]`));
    return pieces;
  }

  #getNumber(address: string | undefined): number {
    const known = this.#addresses.get(address);
    if (known !== undefined) return known;
    const number = this.#addresses.size;
    this.#addresses.set(address, number);
    return number;
  }
}

/** The JSON text of an event for the JSON door. */
export function eventText(event: WireEvent): string {
  let text = '';
  for (const [member, name] of MEMBERS) {
    const value = event[member];
    if (value !== undefined) text += `${text === '' ? '' : ','}"${name}":${value}`;
  }
  return `{${text}}`;
}
