import { timestampUsOfText } from '../event-time.ts';
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

/** RFC 5424, §6: version, time, host, application, process, message id; the rest is data and message. */
const RFC_5424 = /^1 (\S+) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32})(?: ([\s\S]*))?$/;

/** RFC 3164, §4: time, host, tag, perhaps with a process in brackets. */
const RFC_3164 =
  /^([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) (\S+) (?:([^\s:[]{1,48})(?:\[([^\]\s]{1,128})\])?: ?)?([\s\S]*)$/;

const NIL = '-';

type Options = {
  readonly nowUs: number;
  /** Frames without structured data. */
  readonly isLogplex: boolean;
};

/**
 * The event of one message: what its header names is metadata, and what it says is the message. A message
 * whose header is of neither RFC is one as a whole.
 */
export function syslogEvent(text: string, options: Options): WireEvent {
  const priority = /^<(\d{1,3})>/.exec(text);
  const value = Number(priority?.[1]);
  if (priority === null || value > PRIORITY_MAX) return { message: JSON.stringify(text) };
  const metadata = new ObjectText()
    .add('facility', JSON.stringify(FACILITIES[value >> 3]))
    .add('severity', JSON.stringify(SEVERITIES[value & 7]))
    .add('priority', String(value));
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

/** With the year that is missing, and in UTC; what is no time stays as it is. */
function timeJson(time: string, nowUs: number): string {
  const us = timestampUsOfText(Buffer.from(time), 0, time.length, nowUs);
  return JSON.stringify(us === undefined ? time : new Date(us / 1000).toISOString());
}

/** One element of structured data, and one of its parameters (RFC 5424, §6.3). */
const ELEMENT = /^\[([^\s=\]"]{1,32})((?: [^\s=\]"]{1,32}="(?:[^"\\\]]|\\[\s\S])*")*)\]/;
const PARAMETER = / ([^\s=\]"]{1,32})="((?:[^"\\\]]|\\[\s\S])*)"/g;

/** What is behind the header: elements by their ids, and the message. */
function structuredData(tail: string): {
  readonly data: string | undefined;
  readonly message: string;
} {
  const data = new ObjectText();
  let rest = tail.startsWith(NIL) ? tail.slice(1) : tail;
  for (let match = ELEMENT.exec(rest); match !== null; match = ELEMENT.exec(rest)) {
    const [whole, id = '', parameters = ''] = match;
    const element = new ObjectText();
    for (const [, name = '', value = ''] of parameters.matchAll(PARAMETER)) {
      element.add(name, JSON.stringify(value.replace(/\\(["\\\]])/g, '$1')));
    }
    data.add(id, element.toString());
    rest = rest.slice(whole.length);
  }
  const message = rest.startsWith(' ') ? rest.slice(1) : rest;
  // A mark of the encoding stands before UTF-8 (§6.4).
  return {
    data: data.isEmpty ? undefined : data.toString(),
    message: message.replace(/^\ufeff/, ''),
  };
}
