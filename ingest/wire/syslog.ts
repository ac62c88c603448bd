import { isUtf8 } from 'node:buffer';
import * as ascii from '../ascii.ts';
import { EventLimitError, MalformedBodyError } from '../ingest-error.ts';
import { type EventTexts, eventText } from './event-texts.ts';
import { type SyslogOptions, syslogEvent } from './syslog-message.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/** The media type of Heroku's Logplex, whose frames lack the structured data that RFC 5424 requires. */
const LOGPLEX = 'application/logplex-1';

/** Digits of a frame's length: no body is longer. */
const LENGTH_DIGITS_MAX = 8;

/**
 * Syslog messages of RFC 5424 or RFC 3164, either in frames with a length prefix (RFC 6587, §3.4.1), as Logplex sends
 * them, or one a line.
 */
export const syslog: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const bytes = Buffer.concat(body.pieces);
    // Frame lengths count the bytes as sent, so each message is repaired separately, when it is decoded.
    events.isRepaired = !isUtf8(bytes);
    const isLogplex = body.mediaType === LOGPLEX;
    const drainToken = isLogplex ? body.headers['logplex-drain-token'] : undefined;
    const options = { nowUs: body.nowUs, isLogplex, drainToken: drainToken?.toString() };
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

/** The event of a message, or the reason for refusing it. */
function messageText(text: string, options: SyslogOptions): string | EventLimitError {
  try {
    return eventText(syslogEvent(text, options));
  } catch (error) {
    if (error instanceof EventLimitError) return error;
    throw error;
  }
}

/** A frame if a length precedes it, else a line. */
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
