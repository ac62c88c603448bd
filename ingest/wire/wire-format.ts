import { Slices, yieldToEventLoop } from '../event-loop.ts';
import { DECODE_PART_BYTES, DECODE_SLICE_BYTES } from '../limits.ts';
import type { Loan } from '../memory-pool.ts';
import { withRepairedUtf8 } from '../utf8-repair.ts';
import { EventTexts } from './event-texts.ts';

/** A posted body. */
export type WireBody = {
  readonly pieces: readonly Uint8Array[];
  /** The sender's media type, without parameters; empty if there is none. */
  readonly mediaType: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The decoded texts of the query string, by name. May hold a token: a format takes out the names that it knows. */
  readonly query: ReadonlyMap<string, readonly string[]>;
  /** The id that the URL gives the one event of the body. */
  readonly documentId?: string | undefined;
  /** The time of receipt, in microseconds. */
  readonly nowUs: number;
  /** Creates a UUID, for a format that answers with the ids of events. */
  readonly newId: () => string;
  /** Memory for the body until it is translated. */
  readonly memory: Loan;
};

/**
 * The log format of one kind of sender. It only says what each event is. Sources, projects of tokens, and limits of
 * events are handled after it, once for all formats.
 *
 * `Notes`: the data that the door needs for the answer in the sender's own format. Formats to begin from: `documents.ts` (a list of
 * objects), `gelf.ts` (lines), `loki-push.ts` (lists with labels that their events share).
 */
export interface WireFormat<Notes = void> {
  /**
   * Whether a body may hold much more than its own bytes, because parts of it are compressed. Such a body is decoded in
   * the decoding thread, one at a time, whatever its size.
   */
  readonly expands?: true;
  /**
   * Adds the events of a body to `events`, in the order sent. Yields its position after each event, and after each part that
   * holds events, also an empty one. Keeps nothing.
   *
   * @throws MalformedBodyError, BodyLimitError: nothing of the body is stored then.
   * @throws InvalidUtf8Error before it adds the first event: it is called again with a repaired body then.
   */
  translate(body: WireBody, events: EventTexts): Generator<number, Notes>;
}

export type Translated<Notes> = { readonly events: EventTexts; readonly notes: Notes };

/**
 * Translates a body. Yields to the event loop every DECODE_SLICE_BYTES or sooner, counting both the bytes read and the
 * bytes written, because a short event is written with all the data that applies to it.
 */
export function translateBody<Notes>(
  format: WireFormat<Notes>,
  body: WireBody,
): Promise<Translated<Notes>> {
  return withRepairedUtf8(body.pieces, async (pieces, isRepaired) => {
    const events = new EventTexts();
    events.isRepaired = isRepaired;
    const steps = format.translate({ ...body, pieces }, events);
    const slices = new Slices(DECODE_SLICE_BYTES);
    let position = 0;
    let passedSize = 0;
    for (;;) {
      const step = steps.next();
      if (step.done) {
        events.mustHaveEvent();
        return { events, notes: step.value };
      }
      // A format may return to a value that it skipped; it is counted again when it is read.
      passedSize += DECODE_PART_BYTES + Math.max(0, step.value - position);
      position = step.value;
      if (slices.isOver(passedSize + events.size)) await yieldToEventLoop();
    }
  });
}
