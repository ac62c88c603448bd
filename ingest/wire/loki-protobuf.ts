import { WireType } from '@bufbuild/protobuf/wire';
import type { EventTexts, WireEvent } from './event-texts.ts';
import { ObjectText } from './json-text.ts';
import { LokiLabelList, type LokiLabels, lokiEvent } from './loki-event.ts';
import { parseLokiLabels } from './loki-label-text.ts';
import {
  FieldReader,
  mustBe,
  oneBuffer,
  parseFields,
  parseMessage,
  parseMessages,
  stepsOf,
} from './protobuf.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/**
 * Grafana Loki's push as protobuf: a `PushRequest` (Loki, `pkg/push/push.proto`). The numbers below are field numbers of
 * this file. Unknown fields are ignored.
 */
export const lokiProtobuf: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const steps = new PushReader(events).read(oneBuffer(body.pieces));
    yield* stepsOf(steps, 'a PushRequest');
  },
};

const NANOSECONDS = 1_000_000_000n;

const NO_LABELS = new LokiLabelList().done();

/** Reads one push. */
class PushReader {
  readonly #events: EventTexts;
  /** Of the current line. */
  readonly #fields: FieldReader;

  constructor(events: EventTexts) {
    this.#events = events;
    this.#fields = new FieldReader(events);
  }

  *read(bytes: Uint8Array): Generator<number, void> {
    let hasStream = false;
    for (const stream of parseMessages(bytes, 1)) {
      yield this.#fields.progress(0);
      if (stream === undefined) continue;
      hasStream = true;
      this.#events.addPart();
      const labels = yield* this.#labels(stream);
      for (const entry of parseMessages(stream, 2)) {
        if (entry !== undefined) this.#fields.addEvent(() => this.#parseLine(entry, labels));
        yield this.#fields.progress(entry?.length ?? 0);
      }
    }
    if (!hasStream && bytes.length > 0) {
      throw new Error(`it must have field 1, streams; got ${bytes.length} bytes of others`);
    }
  }

  *#labels(stream: Uint8Array): Generator<number, LokiLabels> {
    for (const { field, type, reader } of parseFields(stream)) {
      if (field === 1) {
        const text = this.#fields.text(reader, type);
        yield this.#fields.progress(text.length);
        return parseLokiLabels(text);
      }
      yield this.#fields.progress(0);
    }
    return NO_LABELS;
  }

  #parseLine(entry: Uint8Array, labels: LokiLabels): WireEvent {
    let time: string | undefined;
    let text = '""';
    const structured = new ObjectText();
    for (const { field, type, reader } of this.#fields.fields(entry)) {
      if (field === 1) time = this.#parseTime(parseMessage(reader, type));
      else if (field === 2) text = JSON.stringify(this.#fields.text(reader, type));
      else if (field === 3) this.#addPair(parseMessage(reader, type), structured);
    }
    const structuredMetadata = structured.isEmpty ? undefined : structured.toString();
    return lokiEvent(labels, { time, text, structuredMetadata });
  }

  /** A `google.protobuf.Timestamp`. */
  #parseTime(timestamp: Uint8Array): string {
    let [seconds, nanos] = [0n, 0n];
    for (const { field, type, reader } of this.#fields.fields(timestamp)) {
      if (field !== 1 && field !== 2) continue;
      mustBe(type, WireType.Varint);
      if (field === 1) seconds = BigInt(reader.int64());
      else nanos = BigInt(reader.int32());
    }
    return `"${seconds * NANOSECONDS + nanos}"`;
  }

  #addPair(pair: Uint8Array, structured: ObjectText): void {
    let [name, value] = ['', ''];
    for (const { field, type, reader } of this.#fields.fields(pair)) {
      if (field === 1) name = this.#fields.text(reader, type);
      else if (field === 2) value = this.#fields.text(reader, type);
    }
    structured.add(name, JSON.stringify(value));
  }
}
