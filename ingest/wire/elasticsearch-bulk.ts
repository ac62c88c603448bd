import { BodyLimitError, type EventLimitError, MalformedBodyError } from '../ingest-error.ts';
import { ACTION_ECHO_LENGTH_MAX, BULK_ACTIONS_MAX, BULK_INDEX_LENGTH_MAX } from '../limits.ts';
import { cutId, type DocumentItem, documentText, longIdError } from './elasticsearch-document.ts';
import type { EventTexts } from './event-texts.ts';
import { JsonReader } from './json-reader.ts';
import { postedEvent } from './posted-event.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/** Actions whose document is stored. The others have no use for logs. */
const STORING = new Set(['index', 'create']);
const WITH_DOCUMENT = new Set(['index', 'create', 'update']);
const ACTIONS = new Set([...WITH_DOCUMENT, 'delete']);

/**
 * Elasticsearch's bulk (its REST API, "Bulk index or delete documents"): a line with an action and, except for
 * `delete`, a line with a document. Documents that are indexed or created become events; the index is the address. A
 * line that is not JSON is refused in its item.
 */
export const elasticsearchBulk: WireFormat<readonly DocumentItem[]> = {
  *translate(body: WireBody, events: EventTexts): Generator<number, readonly DocumentItem[]> {
    const reader = new JsonReader(body.pieces, { memory: body.memory, isLines: true });
    const items: DocumentItem[] = [];
    let due = nextAction(reader);
    while (due !== undefined) {
      if (items.length === BULK_ACTIONS_MAX) {
        throw new BodyLimitError(`a bulk may have ${BULK_ACTIONS_MAX} actions; got more`);
      }
      if (due instanceof Error) {
        items.push({ action: 'index', index: undefined, id: body.newId(), event: events.count });
        events.addRefused(due);
        due = actionBehindBad(reader);
      } else {
        items.push(parseItem(due, due.id ?? body.newId(), { reader, events }));
        due = nextAction(reader);
      }
      yield reader.position;
    }
    if (items.length === 0) {
      throw new MalformedBodyError('a bulk must have a line with an action; got an empty body');
    }
    return items;
  },
};

/** Reads the next line as an action. Returns the error of a bad line; `undefined` at the end. */
function nextAction(reader: JsonReader): Action | BadLine | undefined {
  return reader.nextLine() ? reader.tryLine(() => parseAction(reader)) : undefined;
}

/** The line after a bad action is its document, unless it is an action itself, and nothing else. */
function actionBehindBad(reader: JsonReader): Action | BadLine | undefined {
  const next = nextAction(reader);
  if (next === undefined) return undefined;
  const isAction = !(next instanceof Error) && next.isAlone && ACTIONS.has(next.action);
  return isAction ? next : nextAction(reader);
}

/** Reads the document of an action, if it has one. */
function parseItem(
  { action, index }: Action,
  wholeId: string,
  { reader, events }: { readonly reader: JsonReader; readonly events: EventTexts },
): DocumentItem {
  const id = cutId(wholeId);
  if (!WITH_DOCUMENT.has(action)) return { action, index, id, event: undefined };
  const isStored = STORING.has(action);
  const text = reader.tryLine(() => {
    if (!reader.nextLine()) reader.fail(`a line with the document of "${action}"`);
    return isStored ? postedEvent(reader, () => documentText(reader, id)) : reader.json();
  });
  if (!isStored) return { action, index, id, event: undefined };
  const event = events.count;
  events.addPosted(id === wholeId ? text : longIdError(wholeId), index);
  return { action, index, id, event };
}

/** The reason why a line is refused. */
type BadLine = MalformedBodyError | EventLimitError;

type Action = Pick<DocumentItem, 'action' | 'index'> & {
  readonly id: string | undefined;
  /** Whether its line has no other member. */
  readonly isAlone: boolean;
};

function parseAction(reader: JsonReader): Action {
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
  let isAlone = true;
  // Elasticsearch 8 ignores other members. winston-elasticsearch counts its attempts there. A second action is an error.
  while (reader.nextKey() !== undefined) {
    if (reader.kind() === 'object') reader.fail('"}" after one action');
    isAlone = false;
  }
  return {
    action: ACTIONS.has(action) ? action : action.slice(0, ACTION_ECHO_LENGTH_MAX),
    index: index?.slice(0, BULK_INDEX_LENGTH_MAX),
    id,
    isAlone,
  };
}
