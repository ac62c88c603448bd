import { type DocumentNames, documentEvent } from './document.ts';
import { type EventTexts, eventText, type WireEvent } from './event-texts.ts';
import { JsonReader } from './json-reader.ts';
import { ObjectText } from './json-text.ts';
import { postedEvent } from './posted-event.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/** The names of attributes in headers (HTTP Protocol Binding for CloudEvents, §3.1.3). */
const HEADER = /^ce-(.+)$/;

/** The media type of a body that is a whole event, or a list of such. */
const STRUCTURED = 'application/cloudevents+json';
const BATCHED = 'application/cloudevents-batch+json';

const DATA_NAMES: DocumentNames = {
  timestamp: [],
  message: ['event_message', 'message'],
  project: ['project'],
};

/**
 * CloudEvents 1.0 over HTTP in its three modes: binary (attributes in headers, data in the body), structured (all in
 * the body) and batched (a list of structured ones). `id` and `time` become those of the event, and the members of an
 * object as data become its metadata. All attributes are in `metadata.cloud_event`.
 */
export const cloudEvents: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, body);
    if (body.mediaType === BATCHED) {
      reader.enterList();
      while (reader.hasNext()) {
        events.addPosted(reader.tryEvent(() => structuredText(reader)));
        yield reader.position;
      }
    } else if (body.mediaType === STRUCTURED) {
      events.addPosted(reader.tryEvent(() => structuredText(reader)));
    } else {
      const attributes = new Attributes();
      for (const [header, value] of Object.entries(body.headers)) {
        const name = HEADER.exec(header)?.[1];
        if (name !== undefined && typeof value === 'string') attributes.add(name, textJson(value));
      }
      events.addPosted(reader.tryEvent(() => eventText(attributes.event(reader))));
    }
    reader.endText();
  },
};

/** Decodes a percent-encoded header value (§3.1.3.2). An invalid one is taken as it is. */
function textJson(value: string): string {
  try {
    return JSON.stringify(decodeURIComponent(value));
  } catch {
    return JSON.stringify(value);
  }
}

function structuredText(reader: JsonReader): string {
  return postedEvent(reader, () => eventText(structured(reader)));
}

function structured(reader: JsonReader): WireEvent {
  const attributes = new Attributes();
  let data: { readonly start: number } | undefined;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    if (key === 'data') data = reader.skip();
    else attributes.add(key, reader.json());
  }
  if (data === undefined) return attributes.event(undefined);
  const next = { start: reader.position };
  reader.goTo(data);
  const event = attributes.event(reader);
  reader.goTo(next);
  return event;
}

/** Attributes with a meaning beyond metadata (§3.1). */
const KNOWN = new Set(['id', 'time', 'type']);

/** The attributes of one event. */
class Attributes {
  readonly #all = new ObjectText();
  readonly #known = new Map<string, string>();

  add(name: string, json: string): void {
    this.#all.add(name, json);
    if (KNOWN.has(name)) this.#known.set(name, json);
  }

  /** The event, with the next value of `reader` as its data, if there is any. */
  event(reader: JsonReader | undefined): WireEvent {
    const metadata = new ObjectText();
    const data = this.#data(reader, metadata);
    metadata.add('cloud_event', this.#all.toString());
    return {
      id: this.#known.get('id'),
      timestamp: this.#known.get('time'),
      message: data?.message ?? this.#known.get('type'),
      project: data?.project,
      metadata: metadata.toString(),
    };
  }

  #data(reader: JsonReader | undefined, metadata: ObjectText): WireEvent | undefined {
    if (reader === undefined) return undefined;
    if (reader.kind() === 'object') return documentEvent(reader, DATA_NAMES, metadata);
    const isText = reader.kind() === 'string';
    const json = reader.json();
    metadata.add('data', json);
    return { message: isText ? json : JSON.stringify(json) };
  }
}
