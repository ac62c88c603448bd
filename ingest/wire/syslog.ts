import { isUtf8 } from 'node:buffer';
import * as ascii from '../ascii.ts';
import { EventLimitError, MalformedBodyError } from '../ingest-error.ts';
import { type EventTexts, eventText } from './event-texts.ts';
import { type SyslogOptions, syslogEvent } from './syslog-message.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/** How Heroku's Logplex names its frames: without structured data, which RFC 5424 wants. */
const LOGPLEX = 'application/logplex-1';

/** Digits of a frame's length: no body is longer. */
const LENGTH_DIGITS_MAX = 8;

/**
 * Messages of syslog: each in a frame with its length before it (RFC 6587, §3.4.1), as Logplex sends them, or each
 * on a line of its own; as RFC 5424 has them, or RFC 3164.
 */
export const syslog: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const bytes = Buffer.concat(body.pieces);
    // Lengths of frames count the bytes that were sent: each message is repaired by itself, when it is made a text.
    events.isRepaired = !isUtf8(bytes);
    const options = { nowUs: body.nowUs, isLogplex: body.mediaType === LOGPLEX };
    let at = 0;
    while (at < bytes.length) {
      const { start, end } = messageAt(bytes, at);
      const text = bytes.toString('utf8', start, end).trimEnd();
      if (text !== '') events.addPosted(messageText(text, options));
      at = end;
      while (bytes[at] === ascii.LINE_FEED) at++;
      yield at;
    }
  },
};

/** The event of a message, or why it is refused. */
function messageText(text: string, options: SyslogOptions): string | EventLimitError {
  try {
    return eventText(syslogEvent(text, options));
  } catch (error) {
    if (error instanceof EventLimitError) return error;
    throw error;
  }
}

/** A frame where a length stands before it, else a line. */
function messageAt(bytes: Buffer, at: number): { readonly start: number; readonly end: number } {
  const digits = /^\d+(?= )/.exec(bytes.toString('latin1', at, at + LENGTH_DIGITS_MAX + 1))?.[0];
  if (digits !== undefined) {
    const start = at + digits.length + 1;
    const end = start + Number(digits);
    if (end > bytes.length) {
      throw new MalformedBodyError(
        `the body is not syslog: a frame at byte ${at + 1} should have ${digits} bytes; got ${bytes.length - start}`,
      );
    }
    return { start, end };
  }
  const lineFeed = bytes.indexOf(ascii.LINE_FEED, at);
  return { start: at, end: lineFeed < 0 ? bytes.length : lineFeed };
}
