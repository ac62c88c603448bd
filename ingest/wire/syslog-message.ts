import * as ascii from '../ascii.ts';
import { timestampUsOfText } from '../event-time.ts';
import { failTooManyFields } from '../json-decoder.ts';
import { EVENT_FIELDS_MAX } from '../limits.ts';
import type { WireEvent } from './event-texts.ts';
import { ObjectText } from './json-text.ts';

/** RFC 5424, table 2, by number. */
const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'];

/** RFC 5424, table 1, by number. */
const FACILITIES = [
  ...['kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron'],
  ...['authpriv', 'ftp', 'ntp', 'audit', 'alert', 'clock', 'local0', 'local1', 'local2'],
  ...['local3', 'local4', 'local5', 'local6', 'local7'],
];

const PRIORITY_MAX = 191;

/** RFC 5424, §6: version, time, host, application, process, message id; then structured data and message. */
const RFC_5424 = /^1 (\S+) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32})(?: ([\s\S]*))?$/;

/** RFC 3164, §4: time, host, tag, optionally with a process id in brackets. */
const RFC_3164 =
  /^([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) (\S+) (?:([^\s:[]{1,48})(?:\[([^\]\s]{1,128})\])?: ?)?([\s\S]*)$/;

const NIL = '-';

export type SyslogOptions = {
  readonly nowUs: number;
  /** Whether frames have no structured data. */
  readonly isLogplex: boolean;
  /** Of Logplex: what tells the drains of several apps apart. */
  readonly drainToken: string | undefined;
};

/**
 * Translates one message to an event: fields of the header become metadata, and the rest is the event's message. If the
 * header matches neither RFC, the whole text is the message.
 *
 * @throws EventLimitError if its structured data has too many elements and parameters.
 */
export function syslogEvent(text: string, options: SyslogOptions): WireEvent {
  const priority = /^<(\d{1,3})>/.exec(text);
  const value = Number(priority?.[1]);
  if (priority === null || value > PRIORITY_MAX) return { message: JSON.stringify(text) };
  const metadata = new ObjectText()
    .add('facility', JSON.stringify(FACILITIES[value >> 3]))
    .add('severity', JSON.stringify(SEVERITIES[value & 7]))
    .add('priority', String(value))
    .add('drain_token', options.drainToken && JSON.stringify(options.drainToken));
  const rest = text.slice(priority[0].length);
  return (
    modernEvent(rest, metadata, options.isLogplex) ??
    oldEvent(rest, metadata, options.nowUs) ?? {
      message: JSON.stringify(rest),
      metadata: metadata.toString(),
    }
  );
}

function modernEvent(
  rest: string,
  metadata: ObjectText,
  isLogplex: boolean,
): WireEvent | undefined {
  const match = RFC_5424.exec(rest);
  if (match === null) return undefined;
  const [, time, hostname, application, process, messageId, tail = ''] = match;
  addKnown(metadata, { hostname, app_name: application, proc_id: process, msg_id: messageId });
  const { data, message } = isLogplex ? { data: undefined, message: tail } : structuredData(tail);
  metadata.add('structured_data', data);
  return {
    timestamp: time === NIL ? undefined : JSON.stringify(time),
    message: JSON.stringify(message),
    metadata: metadata.toString(),
  };
}

function oldEvent(rest: string, metadata: ObjectText, nowUs: number): WireEvent | undefined {
  const match = RFC_3164.exec(rest);
  if (match === null) return undefined;
  const [, time, hostname, application, process, message] = match;
  addKnown(metadata, { hostname, app_name: application, proc_id: process });
  return {
    timestamp: timeJson(time!, nowUs),
    message: JSON.stringify(message),
    metadata: metadata.toString(),
  };
}

function addKnown(
  metadata: ObjectText,
  fields: Readonly<Record<string, string | undefined>>,
): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== NIL) metadata.add(name, JSON.stringify(value));
  }
}

/** Adds the missing year, in UTC. A text that is not a time is kept as it is. */
function timeJson(time: string, nowUs: number): string {
  const us = timestampUsOfText(Buffer.from(time), 0, time.length, nowUs);
  return JSON.stringify(us === undefined ? time : new Date(us / 1000).toISOString());
}

/**
 * Splits the text after the header into structured data, by element ids, and message. Text that is not an element
 * begins the message.
 */
function structuredData(tail: string): {
  readonly data: string | undefined;
  readonly message: string;
} {
  const data = new ObjectText();
  const elements = new ElementReader(tail, tail.startsWith(NIL) ? NIL.length : 0);
  for (let next = elements.read(); next !== undefined; next = elements.read()) {
    data.add(next.id, next.json);
  }
  const rest = tail.slice(elements.end);
  const message = rest.startsWith(' ') ? rest.slice(1) : rest;
  // A byte order mark precedes UTF-8 (§6.4).
  return {
    data: data.isEmpty ? undefined : data.toString(),
    message: message.replace(/^\ufeff/, ''),
  };
}

/** A name of RFC 5424, §6.3.1 to §6.3.3, at `lastIndex`. */
const NAME = /[^\s=\]"]{1,32}/y;

/**
 * Reads structured data element by element (RFC 5424, §6.3). Each character is read once: a regular expression would
 * keep a backtracking state for each of them, and fails if they are many.
 */
class ElementReader {
  readonly #text: string;
  /** The end of the last whole element. */
  end: number;
  #at = 0;
  #fieldCount = 0;

  constructor(text: string, start: number) {
    this.#text = text;
    this.end = start;
  }

  /**
   * Reads the next element, if there is one at the current position.
   *
   * @throws EventLimitError if there are too many elements, or parameters in them.
   */
  read(): { readonly id: string; readonly json: string } | undefined {
    this.#at = this.end;
    if (!this.#passes('[')) return undefined;
    const id = this.#name();
    if (id === undefined) return undefined;
    const element = new ObjectText();
    while (this.#passes(' ')) {
      const name = this.#name();
      if (name === undefined || !this.#passes('="')) return undefined;
      const value = this.#value();
      if (value === undefined) return undefined;
      element.add(name, JSON.stringify(value));
    }
    if (!this.#passes(']')) return undefined;
    this.end = this.#at;
    return { id, json: element.toString() };
  }

  #passes(expected: string): boolean {
    if (!this.#text.startsWith(expected, this.#at)) return false;
    this.#at += expected.length;
    return true;
  }

  #name(): string | undefined {
    if (++this.#fieldCount > EVENT_FIELDS_MAX) failTooManyFields();
    NAME.lastIndex = this.#at;
    const name = NAME.exec(this.#text)?.[0];
    this.#at += name?.length ?? 0;
    return name;
  }

  /** Reads from after the opening quote to after the closing one. */
  #value(): string | undefined {
    const text = this.#text;
    const start = this.#at;
    let hasEscape = false;
    for (let at = start; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === ascii.QUOTE) {
        this.#at = at + 1;
        const value = text.slice(start, at);
        return hasEscape ? unescaped(value) : value;
      }
      if (unit === ascii.BRACKET_CLOSE) return undefined;
      if (unit !== ascii.BACKSLASH) continue;
      hasEscape = true;
      at++;
    }
    return undefined;
  }
}

/** Replaces a single regular expression, which would collect all matches of a text at once. */
function unescaped(value: string): string {
  const bytes = Buffer.from(value);
  let end = 0;
  for (let at = 0; at < bytes.length; at++) {
    // All of these bytes are ASCII, so they are not part of another character in UTF-8.
    if (bytes[at] === ascii.BACKSLASH && isEscaped(bytes[at + 1])) at++;
    bytes[end++] = bytes[at]!;
  }
  return bytes.toString('utf8', 0, end);
}

/** Whether a backslash before the byte is an escape (RFC 5424, §6.3.3). Before other bytes it is an ordinary character. */
function isEscaped(byte: number | undefined): boolean {
  return byte === ascii.QUOTE || byte === ascii.BACKSLASH || byte === ascii.BRACKET_CLOSE;
}
