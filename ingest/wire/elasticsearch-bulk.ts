import { type DocumentNames, documentEvent } from './document.ts';
import { type EventTexts, eventText } from './event-texts.ts';
import { JsonReader } from './json-reader.ts';
import { postedEvent } from './posted-event.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/** What a line of a bulk asked for, in order. */
export type BulkItem = {
  readonly action: string;
  readonly index: string | undefined;
  /** Given by the sender, or made here. */
  readonly id: string;
  /** Which event it became, if any. */
  readonly event: number | undefined;
};

/** Of Elastic's Common Schema, and of the loggers that write to it. */
const NAMES: DocumentNames = {
  timestamp: ['@timestamp', 'timestamp', 'time'],
  message: ['event_message', 'message', 'msg'],
  project: ['project'],
};

/** Actions with a document that is stored, and those of which logs have no use. */
const STORING = new Set(['index', 'create']);
const WITH_DOCUMENT = new Set(['index', 'create', 'update']);

/**
 * Elasticsearch's bulk (its REST API, "Bulk index or delete documents"): a line of what to do, then, but for
 * `delete`, a line of the document. What is indexed or created is an event, whose index is its address.
 */
export const elasticsearchBulk: WireFormat<readonly BulkItem[]> = {
  *translate(body: WireBody, events: EventTexts): Generator<number, readonly BulkItem[]> {
    const reader = new JsonReader(body.pieces, { memory: body.memory, isLines: true });
    const items: BulkItem[] = [];
    while (reader.nextLine()) {
      const { action, index, id = body.newId() } = actionOf(reader);
      let event: number | undefined;
      if (WITH_DOCUMENT.has(action)) {
        if (!reader.nextLine()) reader.fail(`a line with the document of "${action}"`);
        if (STORING.has(action)) {
          event = events.count;
          const read = () => eventText({ ...documentEvent(reader, NAMES), id: JSON.stringify(id) });
          events.addText(postedEvent(reader, read), index);
        } else {
          reader.skip();
        }
        reader.endText();
      }
      items.push({ action, index, id, event });
      yield reader.position;
    }
    return items;
  },
};

type Action = Pick<BulkItem, 'action' | 'index'> & { readonly id: string | undefined };

function actionOf(reader: JsonReader): Action {
  reader.enterObject();
  const action = reader.nextKey();
  if (action === undefined) reader.fail('one of "index", "create", "update" and "delete"');
  let index: string | undefined;
  let id: string | undefined;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    if (reader.kind() !== 'string') continue;
    if (key === '_index') index = reader.text();
    else if (key === '_id') id = reader.text();
  }
  if (reader.nextKey() !== undefined) reader.fail('"}" after one action');
  reader.endText();
  return { action, index, id };
}
