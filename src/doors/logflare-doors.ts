import { cloudEvents } from '../../ingest/wire/cloud-events.ts';
import { documents } from '../../ingest/wire/documents.ts';
import { elixirLogger } from '../../ingest/wire/elixir-logger.ts';
import { logpush } from '../../ingest/wire/logpush.ts';
import { syslog } from '../../ingest/wire/syslog.ts';
import { typecasts } from '../../ingest/wire/typecasts.ts';
import type { WireFormat } from '../../ingest/wire/wire-format.ts';
import { type Door, refusedSentences } from './door.ts';
import { tellLogged } from './log-route.ts';

const JSON_TYPES = ['application/json'];

/** Below each path of the JSON door: what Logflare has there, answered as that door answers. */
export const LOGFLARE_DOORS: ReadonlyMap<string, Door<void>> = new Map([
  ['/json', doorOf('Store JSON objects as they are', documents, JSON_TYPES)],
  ['/vector', doorOf('Store JSON objects as they are', documents, JSON_TYPES)],
  ['/typecasts', doorOf('Store events whose numbers are strings', typecasts, JSON_TYPES, 'body')],
  // Its other form, Erlang's own (`application/bert`), is not read.
  [
    '/elixir/logger',
    doorOf('Store events of Elixir applications', elixirLogger, JSON_TYPES, 'body'),
  ],
  [
    '/cloud-event',
    doorOf('Store CloudEvents', cloudEvents, [
      ...JSON_TYPES,
      'application/cloudevents+json',
      'application/cloudevents-batch+json',
    ]),
  ],
  // Cloudflare names its NDJSON as it likes.
  [
    '/cloudflare',
    doorOf('Store log lines of Cloudflare Logpush', logpush, [
      ...JSON_TYPES,
      'application/x-ndjson',
      'application/ndjson',
      'text/plain',
    ]),
  ],
  ...['/logplex', '/syslog', '/syslogs'].map(
    (path) =>
      [
        path,
        doorOf('Store syslog messages', syslog, [
          'application/logplex-1',
          'application/syslog',
          'text/plain',
        ]),
      ] as const,
  ),
]);

function doorOf(
  summary: string,
  format: WireFormat,
  mediaTypes: readonly string[],
  sourceElse: Door<void>['sourceElse'] = 'none',
): Door<void> {
  return {
    summary,
    formats: new Map(mediaTypes.map((type) => [type, format])),
    sourceElse,
    tell: (_request, response, posted) => tellLogged(response, refusedSentences(posted)),
  };
}
