import { MalformedBodyError } from '../ingest-error.ts';
import { DATADOG_TAGS_MAX } from '../limits.ts';
import { type DocumentNames, documentEvent } from './document.ts';
import { type EventTexts, eventText } from './event-texts.ts';
import { JsonReader } from './json-reader.ts';
import { ObjectText } from './json-text.ts';
import { postedEvent } from './posted-event.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

const NAMES: DocumentNames = {
  timestamp: ['timestamp', 'date', '@timestamp'],
  message: ['message', 'msg', 'log'],
  project: ['project'],
};

/** Bytes of `{}`. */
const PROBE_SIZE = 2;

/**
 * Logs of Datadog's intake: a list of objects, or one (Datadog's API reference, "Send logs"). Time, message and project
 * are extracted; the rest is metadata. `ddtags` is split to `metadata.tags`, and its tag `project` names the project of
 * a log without the attribute `project`. The query string gives what a log lacks.
 */
export const datadogLogs: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, body);
    const shared = readShared(body.query);
    const add = (): void => {
      events.addPosted(reader.tryEvent(() => postedEvent(reader, () => logText(reader, shared))));
    };
    if (reader.kind() === 'list') {
      reader.enterList();
      while (reader.hasNext()) {
        add();
        yield reader.position;
      }
    } else {
      const isObject = reader.kind() === 'object';
      const place = reader.skip();
      // Datadog's agent posts `{}` to see whether it may send.
      const isProbe = isObject && place.end - place.start === PROBE_SIZE;
      if (!isProbe) {
        reader.goTo(place);
        add();
      }
    }
    reader.endText();
  },
};

/** Lines for Datadog's intake: each is an object, as from Datadog's library for browsers, or else a message. */
export const datadogLines: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, { memory: body.memory, isLines: true });
    const shared = readShared(body.query);
    const metadata = sharedMetadata(shared).toString();
    while (reader.nextLine()) {
      const line = reader.lineText();
      const log = line.startsWith('{') ? reader.tryLine(() => logText(reader, shared)) : undefined;
      if (log === undefined) reader.leaveText();
      if (log === undefined || log instanceof MalformedBodyError) {
        const message = JSON.stringify(line);
        events.addText(eventText({ message, project: shared.tags?.project, metadata }));
      } else events.addPosted(log);
      yield reader.position;
    }
  },
};

/** The members that the query string may give for all logs. */
const SHARED = ['ddsource', 'ddtags', 'hostname', 'service'] as const;

type Tags = { readonly json: string; readonly project: string | undefined };

/** What the query string gives, as JSON texts by name. */
type Shared = { readonly members: ReadonlyMap<string, string>; readonly tags: Tags | undefined };

function readShared(query: WireBody['query']): Shared {
  const members = new Map<string, string>();
  for (const name of SHARED) {
    const text = query.get(name)?.[0] ?? '';
    if (text !== '') members.set(name, JSON.stringify(text));
  }
  const tags = query.get('ddtags')?.[0];
  return { members, tags: tags === undefined ? undefined : parseTags(tags) };
}

function sharedMetadata({ members, tags }: Shared): ObjectText {
  const metadata = new ObjectText();
  for (const [name, json] of members) metadata.add(name, json);
  return metadata.add('tags', tags?.json);
}

/** The text of the next value, an object. */
function logText(reader: JsonReader, shared: Shared): string {
  const place = { start: reader.position };
  const { names, ddtags } = reader.bounded(() => parseOwn(reader));
  reader.goTo(place);
  const members = new Map([...shared.members].filter(([name]) => !names.has(name)));
  const tags = names.has('ddtags') ? ddtags : shared.tags;
  const event = documentEvent(reader, NAMES, sharedMetadata({ members, tags }));
  return eventText({ ...event, project: event.project ?? tags?.project });
}

/** Which of SHARED an object has, and its tags. */
function parseOwn(reader: JsonReader): {
  readonly names: ReadonlySet<string>;
  readonly ddtags: Tags | undefined;
} {
  const names = new Set<string>();
  let ddtags: Tags | undefined;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    if (!SHARED.some((name) => name === key)) continue;
    names.add(key);
    if (key === 'ddtags' && reader.kind() === 'string') ddtags = parseTags(reader.text());
  }
  return { names, ddtags };
}

/** The first DATADOG_TAGS_MAX tags of `key:value,key:value`. Of equal keys, the last counts. */
function parseTags(text: string): Tags {
  const tags = new Map<string, string>();
  for (const tag of text.split(',', DATADOG_TAGS_MAX)) {
    const colon = tag.indexOf(':');
    const key = (colon < 0 ? tag : tag.slice(0, colon)).trim();
    if (key !== '') tags.set(key, colon < 0 ? '' : tag.slice(colon + 1).trim());
  }
  const json = new ObjectText();
  for (const [key, value] of tags) json.add(key, JSON.stringify(value));
  const project = tags.get('project') ?? '';
  return { json: json.toString(), project: project === '' ? undefined : JSON.stringify(project) };
}
