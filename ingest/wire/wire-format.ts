import { Slices, yieldToEventLoop } from '../event-loop.ts';
import { DECODE_PART_BYTES, DECODE_SLICE_BYTES } from '../limits.ts';
import type { Loan } from '../memory-pool.ts';
import { withRepairedUtf8 } from '../utf8-repair.ts';
import { EventTexts } from './event-texts.ts';

/** A body as a sender posts it. */
export type WireBody = {
  readonly pieces: readonly Uint8Array[];
  /** As the sender names it, without parameters; empty where it names none. */
  readonly mediaType: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** When it arrived, in microseconds. */
  readonly nowUs: number;
  /** A new UUID, for a format that has to tell its sender the ids of events. */
  readonly newId: () => string;
  /** Where what is read of it may lie until it is translated. */
  readonly memory: Loan;
};

/**
 * How one kind of sender writes its logs. A format only says what each event is: sources, projects of tokens
 * and what an event may hold are decided behind it, in one place for all.
 *
 * `Notes` is what the door needs to answer in the sender's own words.
 */
export interface WireFormat<Notes = void> {
  /**
   * Adds the events of a body to `events`, in the order sent. Gives way with the place it has come to between
   * events. Keeps nothing.
   *
   * @throws MalformedBodyError, BodyLimitError: then nothing of the body is stored.
   * @throws InvalidUtf8Error before it adds the first: then it gets the body again, as UTF-8.
   */
  translate(body: WireBody, events: EventTexts): Generator<number, Notes>;
}

export type Translated<Notes> = { readonly events: EventTexts; readonly notes: Notes };

/**
 * Translates a body, letting other work run every DECODE_SLICE_BYTES or sooner: of those that are read, and of those that
 * are written, as a short event has all that holds for it, too.
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
      // A format may go back to what it has passed over: that is read again, and counts again.
      passedSize += DECODE_PART_BYTES + Math.max(0, step.value - position);
      position = step.value;
      if (slices.isOver(passedSize + events.size)) await yieldToEventLoop();
    }
  });
}
