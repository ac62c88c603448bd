import { BodyLimitError, MalformedBodyError } from '../ingest-error.ts';
import { BODY_EVENTS_MAX, REFUSALS_LISTED_MAX, TRANSLATED_LENGTH_MAX } from '../limits.ts';

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

/** The events of one body for one address. */
type Addressed = {
  readonly texts: string[];
  /** Which event of the body each is, from zero. */
  readonly ordinals: number[];
};

/**
 * The events of one body, written as those that the JSON door takes. An event may be for an address of its own
 * (an index of Elasticsearch names one with each event); `undefined` stands for that of the body.
 */
export class EventTexts {
  /** What the body itself says its source is, where a format has a place for that. */
  bodyAddress: string | undefined;
  /** Whether bytes of the body were not UTF-8, and events hold U+FFFD in their place. */
  isRepaired = false;
  readonly #addressed = new Map<string | undefined, Addressed>();
  /** Why events are refused, of the first REFUSALS_LISTED_MAX, by their ordinals. */
  readonly #reasons = new Map<number, string>();
  #refusedCount = 0;
  #count = 0;
  #length = 0;

  /** How many events there are for all addresses. */
  get count(): number {
    return this.#count;
  }

  get addresses(): readonly (string | undefined)[] {
    return [...this.#addressed.keys()];
  }

  /** @throws BodyLimitError when there is more than a body may hold. */
  add(event: WireEvent, address?: string): void {
    this.addText(eventText(event), address);
  }

  /** The same of an event that is JSON of ours already. */
  addText(text: string, address?: string): void {
    const addressed = this.#of(address);
    addressed.ordinals.push(this.#count++);
    if (this.#count > BODY_EVENTS_MAX) {
      throw new BodyLimitError(`a body may hold ${BODY_EVENTS_MAX} events; got more`);
    }
    this.#length += text.length;
    if (this.#length > TRANSLATED_LENGTH_MAX) {
      throw new BodyLimitError(
        `the events of a body may have ${TRANSLATED_LENGTH_MAX} characters once each has all that holds for it; got more`,
      );
    }
    addressed.texts.push(text);
  }

  /** A value that is not an event: it is refused, and the events beside it are stored. */
  addRefused({ message }: MalformedBodyError, address?: string): void {
    if (this.#reasons.size < REFUSALS_LISTED_MAX) this.#reasons.set(this.#count, message);
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
    if (first !== undefined && this.#refusedCount === this.#count) {
      throw new MalformedBodyError(first);
    }
  }

  /** A body of the JSON door with all events for the address. */
  body(address: string | undefined): Buffer {
    return Buffer.from(`[${this.#of(address).texts.join(',')}]`);
  }

  /** Which events of the body those for the address are, in order. */
  ordinals(address: string | undefined): readonly number[] {
    return this.#of(address).ordinals;
  }

  #of(address: string | undefined): Addressed {
    const known = this.#addressed.get(address);
    if (known !== undefined) return known;
    const addressed = { texts: [], ordinals: [] };
    this.#addressed.set(address, addressed);
    return addressed;
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
