import { cloudEvents } from '../../ingest/wire/cloud-events.ts';
import { documentLines, documents } from '../../ingest/wire/documents.ts';
import { elixirLogger } from '../../ingest/wire/elixir-logger.ts';
import { logpush } from '../../ingest/wire/logpush.ts';
import { syslog } from '../../ingest/wire/syslog.ts';
import { typecasts } from '../../ingest/wire/typecasts.ts';
import type { WireFormat } from '../../ingest/wire/wire-format.ts';
import type { Schema } from '../openapi/operation-text.ts';
import { LOGGED_ANSWERS } from '../openapi/post-text.ts';
import type { Door } from './door.ts';
import { tellLogged } from './log-route.ts';

const JSON_TYPES = ['application/json'];
const LINE_TYPES = ['application/x-ndjson', 'application/ndjson'];

const TEXT: Schema = { type: 'string' };
const ANY_EVENTS: Schema = { type: ['object', 'array', 'string'] };

const CLOUD_EVENT = {
  specversion: '1.0',
  id: '7',
  source: '/shop',
  type: 'order',
  data: { order: 7 },
};

export const DOCUMENTS_DOOR = createDoor({
  summary: 'Store JSON objects as they are',
  format: documents,
  mediaTypes: JSON_TYPES,
  lines: documentLines,
  example: [{ message: 'order made', order: 7 }],
});

const SYSLOG = createDoor({
  summary: 'Store syslog messages',
  format: syslog,
  mediaTypes: ['application/logplex-1', 'application/syslog', 'text/plain'],
  example: '<13>1 2026-01-15T11:55:00Z host app - - - order made\n',
});

/** Logflare's receivers below each path of the JSON receiver, with the same answers. */
export const LOGFLARE_DOORS: ReadonlyMap<string, Door<void>> = new Map([
  ['/json', DOCUMENTS_DOOR],
  ['/vector', DOCUMENTS_DOOR],
  [
    '/typecasts',
    createDoor({
      summary: 'Store events whose numbers are strings',
      format: typecasts,
      mediaTypes: JSON_TYPES,
      sourceElse: 'body',
      example: {
        batch: [
          {
            body: { event_message: 'order made', metadata: { order: '7' } },
            typecasts: [{ from: 'string', to: 'float', path: ['metadata', 'order'] }],
          },
        ],
      },
    }),
  ],
  // Its other format, Erlang's `application/bert`, is not supported.
  [
    '/elixir/logger',
    createDoor({
      summary: 'Store events of Elixir applications',
      format: elixirLogger,
      mediaTypes: JSON_TYPES,
      sourceElse: 'body',
      example: { batch: [{ message: 'order made', metadata: { level: 'info' } }] },
    }),
  ],
  [
    '/cloud-event',
    createDoor({
      summary: 'Store CloudEvents',
      format: cloudEvents,
      mediaTypes: [
        ...JSON_TYPES,
        'application/cloudevents+json',
        'application/cloudevents-batch+json',
      ],
      example: CLOUD_EVENT,
    }),
  ],
  // Cloudflare sends NDJSON under any media type.
  [
    '/cloudflare',
    createDoor({
      summary: 'Store log lines of Cloudflare Logpush',
      format: logpush,
      mediaTypes: [...JSON_TYPES, ...LINE_TYPES, 'text/plain'],
      example: '{"ClientRequestMethod":"GET","EdgeResponseStatus":200}\n',
    }),
  ],
  ...['/logplex', '/syslog', '/syslogs'].map((path) => [path, SYSLOG] as const),
]);

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

type Format = {
  readonly summary: string;
  readonly format: WireFormat;
  readonly mediaTypes: readonly string[];
  /** The format for one document a line, if it may come like that. */
  readonly lines?: WireFormat;
  readonly sourceElse?: Door<void>['sourceElse'];
  readonly example: unknown;
};

function createDoor({
  summary,
  format,
  mediaTypes,
  lines,
  sourceElse = 'none',
  example,
}: Format): Door<void> {
  const formats = new Map(mediaTypes.map((type) => [type, format]));
  if (lines !== undefined) for (const type of LINE_TYPES) formats.set(type, lines);
  return {
    summary,
    formats,
    bodyText: (mediaType) => ({
      schema: isJson(mediaType) ? ANY_EVENTS : TEXT,
      example: formatExample(example, mediaType),
    }),
    answers: LOGGED_ANSWERS,
    sourceElse,
    refusalCode: 'events_refused',
    tell: (_request, response) => tellLogged(response),
  };
}

/** The example in the form of the media type. */
function formatExample(example: unknown, mediaType: string): unknown {
  if (mediaType.includes('-batch')) return [example];
  const isOnLines = LINE_TYPES.includes(mediaType) && Array.isArray(example);
  return isOnLines ? example.map((each) => `${JSON.stringify(each)}\n`).join('') : example;
}
