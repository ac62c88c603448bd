import { yieldToEventLoop } from '../event-loop.ts';
import { BodyLimitError, MalformedBodyError } from '../ingest-error.ts';
import {
  BODY_EVENTS_MAX,
  DECODE_SLICE_BYTES,
  REFUSALS_LISTED_MAX,
  TRANSLATED_BYTES_MAX,
} from '../limits.ts';

/** One event as a sender's format tells it: each member is the JSON text of its value. */
export type WireEvent = {
  readonly id?: string | undefined;
  readonly timestamp?: string | undefined;
  readonly message?: string | undefined;
  readonly project?: string | undefined;
  /** Of an object. */
  readonly metadata?: string;
};

/** The members of a `WireEvent` under the names that events of ours have for them. */
const MEMBERS = [
  ['id', 'id'],
  ['timestamp', 'timestamp'],
  ['message', 'event_message'],
  ['project', 'project'],
  ['metadata', 'metadata'],
] as const satisfies readonly (readonly [keyof WireEvent, string])[];

/**
 * The events of one body, written as those that the JSON door takes. An event may be for an address of its own
 * (an index of Elasticsearch names one with each event); `undefined` stands for that of the body.
 */
export class EventTexts {
  /** What the body itself says its source is, where a format has a place for that. */
  bodyAddress: string | undefined;
  /** Whether bytes of the body were not UTF-8, and events hold U+FFFD in their place. */
  isRepaired = false;
  readonly #texts: string[] = [];
  /** The addresses, numbered in the order of their first events. */
  readonly #addresses = new Map<string | undefined, number>();
  /** The number of each event's address. */
  readonly #addressNumbers: number[] = [];
  /** Why events are refused, of the first REFUSALS_LISTED_MAX, by their ordinals. */
  readonly #reasons = new Map<number, string>();
  #refusedCount = 0;
  #partCount = 0;
  #size = 0;

  /** How many events there are for all addresses. */
  get count(): number {
    return this.#texts.length;
  }

  /** Bytes of their texts. */
  get size(): number {
    return this.#size;
  }

  /** @throws BodyLimitError when there is more than a body may hold. */
  add(event: WireEvent, address?: string): void {
    this.addText(eventText(event), address);
  }

  /** The same of an event that is JSON of ours already. */
  addText(text: string, address?: string): void {
    if (this.count === BODY_EVENTS_MAX) {
      throw new BodyLimitError(`a body may hold ${BODY_EVENTS_MAX} events; got more`);
    }
    this.#size += Buffer.byteLength(text);
    if (this.#size > TRANSLATED_BYTES_MAX) {
      throw new BodyLimitError(
        `the events of a body may have ${TRANSLATED_BYTES_MAX} bytes once each has all that holds for it; got more`,
      );
    }
    this.#texts.push(text);
    this.#addressNumbers.push(this.#numberOf(address));
  }

  /**
   * Counts a part of the body that holds events, or may: a stream, a resource, a scope. One that is empty costs as much
   * as an event.
   *
   * @throws BodyLimitError when there are more than events may be.
   */
  addPart(): void {
    if (++this.#partCount > BODY_EVENTS_MAX) {
      throw new BodyLimitError(
        `a body may have ${BODY_EVENTS_MAX} streams, resources and scopes; got more`,
      );
    }
  }

  /** What a format made of an event: its text, or why it is refused. */
  addPosted(posted: string | Error, address?: string): void {
    if (posted instanceof Error) this.addRefused(posted, address);
    else this.addText(posted, address);
  }

  /** A value that is not an event: it is refused, and the events beside it are stored. */
  addRefused({ message }: Error, address?: string): void {
    if (this.#reasons.size < REFUSALS_LISTED_MAX) this.#reasons.set(this.count, message);
    this.#refusedCount++;
    // No object, so that it is refused, and counted, where all events are.
    this.addText('null', address);
  }

  /** Why an event is refused, where that was known before it was to be stored. */
  reasonOf(ordinal: number): string | undefined {
    return this.#reasons.get(ordinal);
  }

  /** @throws MalformedBodyError when there are events, and all of them are refused already. */
  mustHaveEvent(): void {
    const [first] = this.#reasons.values();
    if (first !== undefined && this.#refusedCount === this.count) {
      throw new MalformedBodyError(first);
    }
  }

  /** The addresses of the events, in the order of their first ones. */
  get addresses(): readonly (string | undefined)[] {
    return [...this.#addresses.keys()];
  }

  /** The ordinals of the events for some addresses, ascending; each address by its index in `addresses`. */
  ordinalsOf(addresses: Iterable<number>): readonly number[] {
    const isWanted = new Uint8Array(this.#addresses.size);
    for (const address of addresses) isWanted[address] = 1;
    const ordinals: number[] = [];
    for (const [ordinal, address] of this.#addressNumbers.entries()) {
      if (isWanted[address] === 1) ordinals.push(ordinal);
    }
    return ordinals;
  }

  /** A body of the JSON door with these events, in pieces. Lets other work run every DECODE_SLICE_BYTES. */
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

  #numberOf(address: string | undefined): number {
    const known = this.#addresses.get(address);
    if (known !== undefined) return known;
    const number = this.#addresses.size;
    this.#addresses.set(address, number);
    return number;
  }
}

/** The event as the JSON door takes it. */
export function eventText(event: WireEvent): string {
  let text = '';
  for (const [member, name] of MEMBERS) {
    const value = event[member];
    if (value !== undefined) text += `${text === '' ? '' : ','}"${name}":${value}`;
  }
  return `{${text}}`;
}
