import { must } from '../engine/columns.ts';
import { type AdmissionOptions, type Admitted, admitEvents, type Refusals } from './admission.ts';
import { ADDRESS_KEYS } from './known-key.ts';
import type { Loan, MemoryPool } from './memory-pool.ts';
import { type BodyForm, type DecodedBody, decodeBody, type PostAddress } from './post-body.ts';
import type { EventTexts } from './wire/event-texts.ts';
import { translateBody, type WireBody, type WireFormat } from './wire/wire-format.ts';

/** A posted body and its format: JSON or NDJSON of weir itself, or the format of another sender. */
export type PostedBody =
  | { readonly pieces: WireBody['pieces']; readonly format: BodyForm }
  | (Omit<WireBody, 'memory' | 'newId'> & { readonly format: WireFormat<unknown> });

/** The addresses in a body, before its sources are known. */
export type PostContents = {
  /** The source that the body names, by name or id. */
  readonly bodyAddress: string | undefined;
  /** The addresses that events name, in the order of their first events; `undefined` stands for that of the body. */
  readonly addresses: readonly (string | undefined)[];
  /** The format's notes for its door; `undefined` for weir's own formats. */
  readonly notes: unknown;
};

/** A source, and which events of the body are for it. */
export type AdmissionTarget = Pick<AdmissionOptions, 'source' | 'nowUs' | 'projects'> & {
  /** The addresses of this source, as indexes into `PostContents.addresses`. */
  readonly addresses: readonly number[];
};

/** The admitted events for one source. Ordinals count from zero as posted. */
export type AdmittedPost = Admitted & {
  /** Events of the batch with U+FFFD in place of bytes that were not UTF-8. */
  readonly repaired: readonly number[];
  /** Bytes of these events as weir's JSON. */
  readonly bodySize: number;
};

/** Decodes one body. Calls must not overlap: `begin`, then `admit` for each source, then `end`. */
export interface PostDecoding {
  /** @throws MalformedBodyError, BodyLimitError: nothing of the body can be stored then. */
  begin(): Promise<PostContents>;
  /**
   * Admits the events for a source. Each address may be given once. The batch is valid until the next call.
   *
   * @throws MalformedBodyError, BodyLimitError
   */
  admit(target: AdmissionTarget): Promise<AdmittedPost>;
  /** Frees the body's memory. Must be called once, also after a failure. */
  end(): void;
}

/** Options that all bodies of a process share. */
export type DecodingOptions = Pick<AdmissionOptions, 'retentionUs' | 'manners' | 'randomId'> & {
  readonly pool: MemoryPool;
  readonly newId: WireBody['newId'];
};

/** Decodes a body on the calling thread. Yields to the event loop between events. */
export class LocalDecoding implements PostDecoding {
  readonly #options: DecodingOptions;
  /** The body, until it is decoded. */
  #posted: PostedBody | undefined;
  /** The events of a body in another sender's format. */
  #events: EventTexts | undefined;
  #decoded: DecodedBody | undefined;
  #memory: Loan | undefined;

  constructor(posted: PostedBody, options: DecodingOptions) {
    this.#posted = posted;
    this.#options = options;
  }

  async begin(): Promise<PostContents> {
    const posted = must(this.#posted, 'a body is read once');
    this.#posted = undefined;
    if ('mediaType' in posted) return this.#translate(posted, posted.format);
    this.#decoded = await decodeBody(posted.pieces, posted.format, this.#lend());
    const bodyAddress = firstAddress(this.#decoded.address);
    return { bodyAddress, addresses: [undefined], notes: undefined };
  }

  async admit({ addresses, source, nowUs, projects }: AdmissionTarget): Promise<AdmittedPost> {
    const ordinals = this.#events?.listOrdinals(addresses);
    const decoded = await this.#decodeEvents(ordinals);
    const { retentionUs, manners, randomId } = this.#options;
    // Field by field, here and below: to spread an object takes longer than to admit an event.
    const options = { source, nowUs, projects, retentionUs, manners, randomId };
    const admitted = await admitEvents(decoded, options);
    const { batch, refusals, unreadableTimestamps, withoutProject } = admitted;
    const repaired = without(decoded.repairedEvents, refusals.events);
    const bodySize = decoded.text.bodySize;
    if (this.#events === undefined || ordinals === undefined) {
      return { batch, refusals, unreadableTimestamps, withoutProject, repaired, bodySize };
    }
    return {
      batch,
      refusals: refusalsOfPost(refusals, ordinals, this.#events),
      unreadableTimestamps,
      withoutProject,
      repaired: repaired.map((event) => getOrdinal(ordinals, event)),
      bodySize,
    };
  }

  end(): void {
    this.#memory?.end();
    this.#memory = undefined;
  }

  async #translate(
    posted: Omit<WireBody, 'memory' | 'newId'>,
    format: WireFormat<unknown>,
  ): Promise<PostContents> {
    const { pool, newId } = this.#options;
    const memory = pool.lend();
    try {
      const { events, notes } = await translateBody(format, { ...posted, newId, memory });
      this.#events = events;
      return { bodyAddress: events.bodyAddress, addresses: events.addresses, notes };
    } finally {
      memory.end();
    }
  }

  async #decodeEvents(ordinals: readonly number[] | undefined): Promise<DecodedBody> {
    if (this.#events === undefined || ordinals === undefined) return must(this.#decoded);
    const pieces = await this.#events.body(ordinals);
    return decodeBody(pieces, 'json', this.#lend(), this.#events.isRepaired);
  }

  #lend(): Loan {
    this.end();
    this.#memory = this.#options.pool.lend();
    return this.#memory;
  }
}

function firstAddress(address: PostAddress): string | undefined {
  for (const key of ADDRESS_KEYS) if ((address[key] ?? '') !== '') return address[key];
  return undefined;
}

/** Refusals of the post, from those of the events that were decoded as a body of their own. */
function refusalsOfPost(
  refusals: Refusals,
  ordinals: readonly number[],
  events: EventTexts,
): Refusals {
  const listed: number[] = [];
  const unlisted: number[] = [];
  const reasons: string[] = [];
  for (const [index, event] of refusals.events.entries()) {
    const ordinal = getOrdinal(ordinals, event);
    const reason = events.findReason(ordinal) ?? refusals.reasons[index];
    if (reason === undefined) unlisted.push(ordinal);
    else {
      listed.push(ordinal);
      reasons.push(reason);
    }
  }
  return { events: listed.concat(unlisted), reasons };
}

function getOrdinal(ordinals: readonly number[], event: number): number {
  return must(ordinals[event], 'an event that was not taken as it is was sent');
}

function without(events: readonly number[], left: readonly number[]): readonly number[] {
  if (events.length === 0) return events;
  const leftOut = new Set(left);
  return events.filter((event) => !leftOut.has(event));
}
