import { must } from '../../engine/columns.ts';
import type { Refusals } from '../../ingest/admission.ts';
import { Slices, yieldToEventLoop } from '../../ingest/event-loop.ts';
import { elasticsearchBulk } from '../../ingest/wire/elasticsearch-bulk.ts';
import {
  type DocumentItem,
  elasticsearchDocument,
} from '../../ingest/wire/elasticsearch-document.ts';
import { ServiceError } from '../errors.ts';
import type { TellFailure } from '../http/failure.ts';
import { sendBytes, sendJson } from '../http/response.ts';
import { refTo } from '../openapi/schemas.ts';
import { AnswerFilter, FILTER_PATH_TEXT } from './answer-filter.ts';
import type { Door } from './door.ts';
import { WARNINGS_TEXT } from './post-warnings.ts';

/** Clients of Elasticsearch refuse answers without this header ("product check"). */
export const ELASTICSEARCH_HEADERS = { 'X-Elastic-Product': 'Elasticsearch' };

/** The version that clients see: one of the line that has everything served here. */
const VERSION = '8.19.0';

/** What clients look for at the root, besides the `name`. */
export const ELASTICSEARCH_INFO = {
  cluster_name: 'weir',
  cluster_uuid: '_na_',
  version: {
    number: VERSION,
    build_flavor: 'default',
    build_type: 'docker',
    build_snapshot: false,
    lucene_version: '9.12.2',
    minimum_wire_compatibility_version: '7.17.0',
    minimum_index_compatibility_version: '7.0.0',
  },
  tagline: 'You Know, for Search',
} as const;

/** What all posts have in common. */
const COMMON = {
  sourceElse: 'default',
  parameters: [FILTER_PATH_TEXT],
  check: AnswerFilter.parse,
  tellFailure: tellLikeElasticsearch,
  failureSchemas: {
    'application/json': (codes) => ({
      ...refTo('ElasticsearchFailure'),
      properties: { error: { properties: { type: { enum: codes } } } },
    }),
  },
} as const satisfies Partial<Door<unknown>>;

/**
 * Elasticsearch's bulk API. Each action has its own status; 429 or 503 for the whole request, with
 * the connection cut, means "later".
 */
export const ELASTICSEARCH_DOOR: Door<readonly DocumentItem[]> = {
  ...COMMON,
  summary: 'Store documents of an Elasticsearch bulk',
  formats: new Map(
    [
      'application/x-ndjson',
      'application/json',
      'application/vnd.elasticsearch+x-ndjson',
      'application/vnd.elasticsearch+json',
    ].map((type) => [type, elasticsearchBulk]),
  ),
  bodyText: () => ({
    schema: { type: 'string', description: 'Lines of JSON: an action, then its document' },
    example: '{"index":{}}\n{"message":"order made","@timestamp":"2026-01-15T11:55:00Z"}\n',
  }),
  answers: {
    200: {
      description: 'Each action with its own status, in the order sent',
      headers: WARNINGS_TEXT,
      content: { 'application/json': { schema: refTo('BulkAnswer') } },
    },
  },
  answerBytes: (items) => items.reduce((sum, item) => sum + itemBytes(item), 0),
  tell: async (_request, response, { notes, refusals }, query) => {
    const pieces = await answerPieces(notes, toReasonMap(refusals), AnswerFilter.parse(query));
    sendBytes(response, 200, 'application/json; charset=utf-8', pieces);
  },
};

/**
 * Elasticsearch's API for one document. A refused one is a 400, as it has no item to say so. An id is not looked up: a
 * second document with an id is stored beside the first.
 */
export const ELASTICSEARCH_DOCUMENT_DOOR: Door<readonly DocumentItem[]> = {
  ...COMMON,
  summary: 'Store one document of Elasticsearch',
  formats: new Map(
    ['application/json', 'application/vnd.elasticsearch+json'].map((type) => [
      type,
      elasticsearchDocument,
    ]),
  ),
  bodyText: () => ({
    schema: { type: 'object' },
    example: { message: 'order made', '@timestamp': '2026-01-15T11:55:00Z' },
  }),
  answers: {
    201: {
      description: 'The document is stored and survives a crash',
      headers: WARNINGS_TEXT,
      content: {
        'application/json': {
          schema: { type: 'object' },
          example: createdAnswer('app.logs', 'order-7'),
        },
      },
    },
  },
  tell: ({ params }, response, { notes, refusals }, query) => {
    const [reason] = refusals.reasons;
    if (reason !== undefined) throw new ServiceError('invalid_body', reason);
    const answer = createdAnswer(String(params['index']), must(notes[0]).id);
    sendJson(response, 201, AnswerFilter.parse(query).keepAnswer(answer));
  },
};

function createdAnswer(index: string, id: string): object {
  return {
    ...{ _index: index, _id: id, _version: 1, result: 'created' },
    ...{ _shards: { total: 1, successful: 1, failed: 0 }, _seq_no: 0, _primary_term: 1 },
  };
}

/** Bytes of an item's answer besides the names that its sender chose, and of one with an error. */
const ITEM_BYTES = 96;
const REFUSED_ITEM_BYTES = 192;

function itemBytes({ index = '', id, event }: DocumentItem): number {
  return index.length + id.length + (event === undefined ? REFUSED_ITEM_BYTES : ITEM_BYTES);
}

/** The reasons of refused events, by event, as far as they are listed. */
function toReasonMap({ events, reasons }: Refusals): ReadonlyMap<number, string | undefined> {
  return new Map(events.map((event, index) => [event, reasons[index]]));
}

/**
 * Writes the members of the answer that `filter` leaves, in pieces of at most ITEMS_PER_PIECE items, with other work in
 * between.
 */
async function answerPieces(
  items: readonly DocumentItem[],
  refused: ReadonlyMap<number, string | undefined>,
  filter: AnswerFilter,
): Promise<readonly Buffer[]> {
  const errors = refused.size > 0 || items.some(({ event }) => event === undefined);
  const head = JSON.stringify(filter.keepAnswer({ took: 0, errors })).slice(0, -1);
  const pieces = [Buffer.from(head)];
  const itemFilter = filter.member('items');
  let separator = `${head === '{' ? '' : ','}"items":[`;
  const slices = new Slices(ITEMS_PER_PIECE);
  let answers: string[] = [];
  for (const [index, item] of items.entries()) {
    const answer = itemFilter.keep(itemAnswer(item, refused));
    if (answer !== undefined) answers.push(JSON.stringify(answer));
    const isLast = index === items.length - 1;
    const isOver = slices.isOver(index);
    if (!isOver && !isLast) continue;
    if (answers.length > 0) {
      pieces.push(Buffer.from(separator + answers.join(',')));
      separator = ',';
      answers = [];
    }
    if (isOver) await yieldToEventLoop();
  }
  return [...pieces, Buffer.from(separator === ',' ? ']}' : '}')];
}

/** About 100 KB. */
const ITEMS_PER_PIECE = 1_000;

type ItemAnswer = Readonly<Record<string, { readonly status: number; readonly error?: object }>>;

function itemAnswer(
  { action, index, id, event }: DocumentItem,
  refused: ReadonlyMap<number, string | undefined>,
): ItemAnswer {
  const of = { _index: index ?? '', _id: id };
  if (event === undefined) {
    const reason = `documents can only be added, by index or create; got ${action}`;
    return { [action]: { ...of, status: 400, error: createError('invalid_request', reason) } };
  }
  if (refused.has(event)) {
    const reason = refused.get(event) ?? 'the event could not be stored';
    return { [action]: { ...of, status: 400, error: createError('invalid_event', reason) } };
  }
  const created = { ...of, _version: 1, result: 'created', status: 201 };
  return { [action]: created };
}

function createError(type: string, reason: string): { type: string; reason: string } {
  return { type, reason };
}

function tellLikeElasticsearch({
  code,
  status,
  message,
  retryAfterS,
}: Parameters<TellFailure>[0]): ReturnType<TellFailure> {
  const cause = createError(code, message);
  const body = { error: { root_cause: [cause], ...cause }, status };
  const contentType = 'application/json; charset=utf-8';
  // rsyslog drops what any complete answer refuses, and retries only after a failed connection.
  // Others retry then, too, and wait longer than after a status.
  const isCutShort = retryAfterS !== undefined;
  return { status, contentType, body: Buffer.from(JSON.stringify(body)), isCutShort };
}
