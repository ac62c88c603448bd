import { refusalSentences } from '../../ingest/admission.ts';
import { firehose } from '../../ingest/wire/firehose.ts';
import type { TellFailure } from '../http/failure.ts';
import { getRequestId, sendBytes } from '../http/response.ts';
import { COUNT, describeList, describeObject, STRING } from '../openapi/schemas.ts';
import type { Door } from './door.ts';
import { WARNINGS_TEXT } from './post-warnings.ts';

/** Firehose takes no other content type, and none with parameters. */
const JSON_TYPE = 'application/json';

const ANSWER = describeObject({ requestId: STRING, timestamp: COUNT }, { errorMessage: STRING });

/**
 * Amazon Data Firehose, destination "HTTP endpoint" (its "Understand HTTP endpoint delivery request and response
 * specifications"). It repeats a delivery after every status except 200 and 413, so a delivery with some refused events
 * gets 200, and the refusals are its `errorMessage`. It requires its request id in the answer.
 */
export const FIREHOSE_DOOR: Door<void> = {
  summary: 'Store records of Amazon Data Firehose',
  formats: new Map([[JSON_TYPE, firehose]]),
  bodyText: () => ({
    schema: describeObject(
      { records: describeList(describeObject({ data: STRING })) },
      { requestId: STRING, timestamp: COUNT },
    ),
    // The data is {"message":"order made"}.
    example: {
      requestId: 'ed4acda5-034f-9f42-bba1-f29aea6d7d8f',
      timestamp: 1_768_478_100_000,
      records: [{ data: 'eyJtZXNzYWdlIjoib3JkZXIgbWFkZSJ9' }],
    },
  }),
  answers: {
    200: {
      description: 'Stored; `errorMessage` lists the refused events, if any',
      headers: WARNINGS_TEXT,
      content: { [JSON_TYPE]: { schema: ANSWER } },
    },
  },
  sourceElse: 'body',
  tell: (_request, response, { refusals, nowUs }) => {
    const isRefused = refusals.events.length > 0;
    const errorMessage = isRefused ? refusalSentences(refusals).join('; ') : undefined;
    const nowMs = Math.floor(nowUs / 1_000);
    sendBytes(response, 200, JSON_TYPE, [
      answerBytes({ requestId: getRequestId(response), nowMs, errorMessage }),
    ]);
  },
  tellFailure: ({ status, message }, { requestId, nowMs = 0 }): ReturnType<TellFailure> => ({
    status,
    contentType: JSON_TYPE,
    body: answerBytes({ requestId, nowMs, errorMessage: message }),
  }),
  failureSchemas: { [JSON_TYPE]: () => ANSWER },
};

function answerBytes({
  requestId,
  nowMs,
  errorMessage,
}: {
  readonly requestId: string;
  readonly nowMs: number;
  readonly errorMessage: string | undefined;
}): Buffer {
  return Buffer.from(JSON.stringify({ requestId, timestamp: nowMs, errorMessage }));
}
