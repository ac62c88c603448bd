import { type EventTexts, eventText } from './event-texts.ts';
import { headThenList } from './head-then-list.ts';
import { JsonReader } from './json-reader.ts';
import { LokiLabelList, type LokiLabels, lokiEvent } from './loki-event.ts';
import { WantedKeys } from './wanted-keys.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/**
 * Grafana Loki's push in JSON: `{"streams": [{"stream": {labels}, "values": [[time, line, {more}]]}]}`, with times in
 * nanoseconds as strings (Loki's HTTP API, "Ingest logs").
 */
export const lokiPush: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, body);
    const keys = new WantedKeys('streams');
    reader.enterObject();
    for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
      keys.add(key);
      yield reader.position;
      if (key !== 'streams') continue;
      reader.enterList();
      while (reader.hasNext()) yield* stream(reader, events);
    }
    reader.endText();
    keys.check('a push of Loki', { mayBeEmpty: false });
  },
};

const NO_LABELS = new LokiLabelList().done();

function* stream(reader: JsonReader, events: EventTexts): Generator<number, void> {
  let labels = NO_LABELS;
  events.addPart();
  yield* headThenList(
    reader,
    { head: 'stream', list: 'values' },
    () => {
      labels = reader.bounded(() => parseLabels(reader));
    },
    function* () {
      events.addPosted(reader.tryEvent(() => lineText(reader, labels)));
      yield reader.position;
    },
  );
}

function parseLabels(reader: JsonReader): LokiLabels {
  const labels = new LokiLabelList();
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    labels.add(key, reader.json());
  }
  return labels.done();
}

/** The JSON texts of a line's time, text and structured metadata, if it has any. */
function parseLine(reader: JsonReader): string[] {
  reader.enterList();
  const parts: string[] = [];
  while (reader.hasNext()) {
    if (parts.length < 2 && reader.kind() !== 'string') reader.fail('a string');
    if (parts.length === 2 && reader.kind() !== 'object') reader.fail('an object');
    if (parts.length === 3) reader.fail('"]" after the third element');
    parts.push(reader.json());
  }
  if (parts.length < 2) reader.fail('a time and a line in each of "values"');
  return parts;
}

function lineText(reader: JsonReader, labels: LokiLabels): string {
  const [time, text, structuredMetadata] = parseLine(reader);
  return eventText(lokiEvent(labels, { time, text, structuredMetadata }));
}
