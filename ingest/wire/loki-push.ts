import { type EventTexts, eventText } from './event-texts.ts';
import { headThenList } from './head-then-list.ts';
import { JsonReader } from './json-reader.ts';
import { ObjectText } from './json-text.ts';
import { WantedKeys } from './wanted-keys.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/**
 * Grafana Loki's push in JSON: `{"streams": [{"stream": {labels}, "values": [[time, line, {more}]]}]}`, with times in
 * nanoseconds as strings (Loki's HTTP API, "Ingest logs"). The line is the message, the labels are `metadata.labels`,
 * and the structured metadata of a line is `metadata.structured_metadata`. The label `project` names the project.
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

type Labels = { readonly json: string; readonly project: string | undefined };

const NO_LABELS: Labels = { json: '{}', project: undefined };

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

function parseLabels(reader: JsonReader): Labels {
  const labels = new ObjectText();
  let project: string | undefined;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    const json = reader.json();
    labels.add(key, json);
    if (key === 'project') project = json;
  }
  return { json: labels.toString(), project };
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

function lineText(reader: JsonReader, labels: Labels): string {
  const [time, line, own] = parseLine(reader);
  const metadata = new ObjectText().add('labels', labels.json).add('structured_metadata', own);
  return eventText({
    timestamp: time,
    message: line,
    project: labels.project,
    metadata: metadata.toString(),
  });
}
