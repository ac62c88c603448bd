import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { refusalSentences } from '../../ingest/admission.ts';
import { otlpJson } from '../../ingest/wire/otlp-json.ts';
import { otlpProtobuf } from '../../ingest/wire/otlp-protobuf.ts';
import type { ServiceError } from '../errors.ts';
import { encodeStatus, toRpcCode } from '../grpc/grpc-status.ts';
import type { TellFailure } from '../http/failure.ts';
import { sendBytes } from '../http/response.ts';
import type { TransportRequest, TransportResponse } from '../http/transport.ts';
import type { Schema } from '../openapi/operation-text.ts';
import { describeObject, refTo } from '../openapi/schemas.ts';
import type { Door } from './door.ts';
import { WARNINGS_TEXT } from './post-warnings.ts';

export const PROTOBUF = 'application/x-protobuf';
export const JSON_TYPE = 'application/json';

/** A Protobuf message, which JSON Schema cannot describe. */
const BINARY: Schema = {};

/** The format of failures. */
export const OTLP_FAILURES = {
  tellFailure: (error, request) => tellStatus(error, isJson(request.contentType)),
  failureSchemas: { [JSON_TYPE]: () => refTo('RpcStatus'), [PROTOBUF]: () => BINARY },
} satisfies Partial<Door<unknown>>;

/**
 * OpenTelemetry's protocol. The answer has the encoding of the request, and the number of
 * refused records if there are any. Exporters retry after 429, 502, 503 and 504, and wait as
 * `Retry-After` says.
 */
export const OTLP_DOOR: Door<void, TransportRequest, TransportResponse> = {
  summary: 'Store OpenTelemetry log records',
  formats: new Map([
    [PROTOBUF, otlpProtobuf],
    [JSON_TYPE, otlpJson],
  ]),
  bodyText: otlpBodyText('An ExportLogsServiceRequest', {
    resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'order made' } }] }] }],
  }),
  answers: otlpAnswers('Stored; `partialSuccess` gives the number of refused records, if any'),
  sourceElse: 'default',
  tell: (request, response, { refusals }) => {
    const message = refusalSentences(refusals).join('; ');
    const count = refusals.events.length;
    tellSuccess(request, response, { name: 'rejectedLogRecords', count, message });
  },
  ...OTLP_FAILURES,
};

export function otlpBodyText(description: string, example: object): Door<unknown>['bodyText'] {
  return (mediaType) =>
    mediaType === JSON_TYPE
      ? { schema: { type: 'object', description }, example }
      : { schema: BINARY };
}

export function otlpAnswers(description: string): Door<unknown>['answers'] {
  return {
    200: {
      description,
      headers: WARNINGS_TEXT,
      content: {
        [JSON_TYPE]: { schema: describeObject({}, { partialSuccess: { type: 'object' } }) },
        [PROTOBUF]: { schema: BINARY },
      },
    },
  };
}

/** What was not stored of a request. */
type Rejected = {
  /** The member with the number. */
  readonly name: string;
  readonly count: number;
  readonly message: string;
};

/** Answers in the encoding of the request; an empty answer says that everything was stored. */
export function tellSuccess(
  request: TransportRequest,
  response: TransportResponse,
  { name, count, message }: Rejected,
): void {
  if (isJson(request.headers['content-type'])) {
    const partialSuccess = { [name]: String(count), errorMessage: message };
    const body = count === 0 ? {} : { partialSuccess };
    sendBytes(response, 200, JSON_TYPE, [Buffer.from(JSON.stringify(body))]);
  } else {
    sendBytes(response, 200, PROTOBUF, [count === 0 ? NOTHING : partial(count, message)]);
  }
}

const NOTHING = new Uint8Array(0);

function isJson(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith(JSON_TYPE) ?? false;
}

/**
 * A response with a partial success; the field numbers are the same for all signals (opentelemetry-proto, `collector/`:
 * `ExportLogsPartialSuccess`, `ExportTracePartialSuccess`, `ExportMetricsPartialSuccess`).
 */
function partial(rejectedCount: number, message: string): Uint8Array {
  const success = new BinaryWriter()
    .tag(1, WireType.Varint)
    .int64(rejectedCount)
    .tag(2, WireType.LengthDelimited)
    .string(message)
    .finish();
  return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(success).finish();
}

/** A `google.rpc.Status`. */
function tellStatus(error: ServiceError, asJson: boolean): ReturnType<TellFailure> {
  const code = toRpcCode(error);
  const { status, message } = error;
  if (asJson) {
    return { status, contentType: JSON_TYPE, body: Buffer.from(JSON.stringify({ code, message })) };
  }
  return { status, contentType: PROTOBUF, body: Buffer.from(encodeStatus({ code, message })) };
}
