import type { WireEvent } from './event-texts.ts';
import { ObjectText } from './json-text.ts';

/**
 * A log record of OpenTelemetry's protocol in either encoding (opentelemetry-proto, `logs/v1/logs.proto`). Members have
 * the names of their fields there, in camel case.
 */
export type OtlpRecord = {
  /** Decimal digits; zero if the sender does not know the time. */
  readonly timeUnixNano?: string;
  readonly observedTimeUnixNano?: string;
  readonly severityNumber?: number | undefined;
  readonly severityText?: string;
  readonly body?: OtlpValue;
  readonly attributes?: OtlpAttributes | undefined;
  /** The trace flags of W3C in the lowest eight bits; zero if there are none. */
  readonly flags?: number;
  /** Hexadecimal digits. */
  readonly traceId?: string;
  readonly spanId?: string;
  readonly eventName?: string;
};

/** A value as JSON text. */
export type OtlpValue = { readonly json: string; readonly isText: boolean };

export type OtlpAttributes = {
  /** The text of an object. */
  readonly json: string;
  /** The JSON text of the attribute `project`, if it is a string. */
  readonly project: string | undefined;
};

/** Data that all records of one scope of one resource share. */
export type OtlpOrigin = {
  readonly resource: OtlpAttributes | undefined;
  readonly scope: string | undefined;
};

/** The attribute of a record, or else of its resource, that names the project. */
const PROJECT_ATTRIBUTE = 'project';

/** Collects attributes in the order sent. */
export class OtlpAttributeList {
  readonly #object = new ObjectText();
  #project: string | undefined;

  add(key: string, value: OtlpValue): void {
    this.#object.add(key, value.json);
    if (key === PROJECT_ATTRIBUTE && value.isText) this.#project = value.json;
  }

  done(): OtlpAttributes | undefined {
    if (this.#object.isEmpty) return undefined;
    return { json: this.#object.toString(), project: this.#project };
  }
}

/**
 * Translates a record to an event. The message is the body if that is a string, else the event's name, else the body as
 * JSON. A body that is not a string is also in the metadata.
 */
export function otlpEvent(record: OtlpRecord, { resource, scope }: OtlpOrigin): WireEvent {
  const { body, attributes } = record;
  const metadata = new ObjectText()
    .add('severity_number', record.severityNumber?.toString())
    .add('severity_text', textJson(record.severityText))
    .add('event_name', textJson(record.eventName))
    .add('trace_id', textJson(record.traceId?.toLowerCase()))
    .add('span_id', textJson(record.spanId?.toLowerCase()))
    .add('flags', record.flags === 0 ? undefined : record.flags?.toString())
    .add('body', body?.isText ? undefined : body?.json)
    .add('attributes', attributes?.json)
    .add('resource', resource?.json)
    .add('scope', scope);
  return {
    timestamp: knownTime(record.timeUnixNano) ?? knownTime(record.observedTimeUnixNano),
    message: findMessage(record),
    project: attributes?.project ?? resource?.project,
    metadata: metadata.toString(),
  };
}

function findMessage({ body, eventName }: OtlpRecord): string | undefined {
  if (body?.isText) return body.json;
  return textJson(eventName) ?? (body === undefined ? undefined : JSON.stringify(body.json));
}

/** `undefined` for an empty text, which protobuf cannot distinguish from an absent one. */
function textJson(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : JSON.stringify(text);
}

function knownTime(digits: string | undefined): string | undefined {
  return digits === undefined || digits === '0' ? undefined : `"${digits}"`;
}
