import { lokiProtobuf } from '../../ingest/wire/loki-protobuf.ts';
import { lokiPush } from '../../ingest/wire/loki-push.ts';
import type { Schema } from '../openapi/operation-text.ts';
import { describeList, describeObject } from '../openapi/schemas.ts';
import type { Door } from './door.ts';
import { WARNINGS_TEXT } from './post-warnings.ts';

const JSON_TYPE = 'application/json';
const PROTOBUF = 'application/x-protobuf';

/** A Protobuf message, which JSON Schema cannot describe. */
const BINARY: Schema = {};

/**
 * Grafana Loki's push (its HTTP API, "Ingest logs"): 204 when everything was stored. Its senders
 * skip lines after a 400, and retry after 429 and 5xx.
 */
export const LOKI_DOOR: Door<void> = {
  summary: 'Store log lines of a Loki push',
  formats: new Map([
    [JSON_TYPE, lokiPush],
    [PROTOBUF, lokiProtobuf],
  ]),
  // Promtail and Alloy do not name it.
  encodingsElse: new Map([[PROTOBUF, 'snappy']]),
  bodyText: (mediaType) =>
    mediaType === JSON_TYPE
      ? {
          schema: describeObject({ streams: describeList({ type: 'object' }) }),
          example: {
            streams: [{ stream: { app: 'shop' }, values: [['1768478100000000000', 'order made']] }],
          },
        }
      : { schema: BINARY },
  answers: {
    204: { description: 'All is stored', headers: WARNINGS_TEXT },
    400: {
      description: 'Some lines were refused, also when they are sent again; the others are stored',
      headers: WARNINGS_TEXT,
    },
  },
  sourceElse: 'default',
  refusalCode: 'lines_refused',
  tell: (_request, response) => {
    response.statusCode = 204;
    response.end();
  },
};
