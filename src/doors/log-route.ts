import type { ServerResponse } from 'node:http';
import { BODY_BYTES_MAX } from '../../ingest/limits.ts';
import type { BodyForm } from '../../ingest/post-body.ts';
import type { Quotas } from '../access/quotas.ts';
import { toTenant } from '../access/tenant.ts';
import type { Clock } from '../clock.ts';
import type { BodyReader } from '../http/body.ts';
import { readMediaType } from '../http/media-type.ts';
import { sendJson } from '../http/response.ts';
import type { GuardedOperation } from '../http/route.ts';
import type { OperationText } from '../openapi/operation-text.ts';
import { LOGGED_ANSWERS, POST_TEXT } from '../openapi/post-text.ts';
import { describeList, describeObject, describeUnion, refTo } from '../openapi/schemas.ts';
import type { LogIntake } from '../store/log-intake.ts';
import { identifySender, type PostHistory } from '../watch/post-history.ts';
import { checkRefusals } from './door.ts';
import { findAddress, mustFindSource } from './post-address.ts';
import { tellWarnings } from './post-warnings.ts';

const EVENTS = describeList(refTo('Event'));

/** Media types of bodies with one event a line. */
const LINE_TYPES = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
] as const;

/**
 * Media types that programs send by default, as `curl -d` does. They say nothing about the body.
 */
const UNTOLD_TYPES = ['text/plain', 'application/x-www-form-urlencoded'] as const;

const FORMS: ReadonlyMap<string, BodyForm> = new Map<string, BodyForm>([
  ['application/json', 'json'],
  ...LINE_TYPES.map((type) => [type, 'ndjson'] as const),
  ...UNTOLD_TYPES.map((type) => [type, 'any'] as const),
]);

/**
 * Handles a post of logs. The source is looked up before the body is read, if the URL or a header
 * names it.
 */
export function logHandler(options: {
  readonly intake: LogIntake;
  readonly bodies: BodyReader;
  readonly clock: Clock;
  /** Without it, posts are unlimited. */
  readonly quotas?: Quotas | undefined;
  readonly posts: PostHistory;
}): GuardedOperation['handle'] {
  const { intake, bodies, clock, quotas, posts } = options;
  return async (request, response, { grant, query }) => {
    const address = findAddress(query, request);
    const source = address === undefined ? undefined : mustFindSource(intake, address, grant);
    const mediaType = readMediaType(request.headers['content-type'], [...FORMS.keys()]);
    const form = FORMS.get(mediaType ?? '') ?? 'any';
    const check = (): void => {
      quotas?.check(grant);
      intake.check(source);
    };
    const terms = { bytesMax: BODY_BYTES_MAX, tenant: toTenant(grant), check };
    const stored = await bodies.use(request, response, terms, async (pieces) => {
      const post = await intake.decode({ pieces, format: form }, () => response.destroyed);
      try {
        const target = source ?? mustFindSource(intake, post.contents.bodyAddress, grant);
        const stored = await post.store(target, {
          nowUs: clock.nowUs(),
          projects: grant.projects,
          onStored: (stored) => quotas?.count(grant, stored),
        });
        posts.addStored(identifySender(request, grant), target, stored);
        return stored;
      } finally {
        post.end();
      }
    });
    const { withoutProject } = stored;
    tellWarnings(response, stored, withoutProject === undefined ? [] : [withoutProject]);
    checkRefusals('events_refused', stored);
    tellLogged(response);
  };
}

/** The description of the JSON receiver. */
export const LOG_TEXT: OperationText = {
  ...POST_TEXT,
  summary: 'Store log events',
  body: {
    isRequired: false,
    description:
      'One event, a list of them, `{"batch": [...]}`, or NDJSON. The content type may be missing or general: the body itself decides.',
    content: {
      'application/json': {
        schema: describeUnion([
          describeObject({ batch: describeList(refTo('Event')) }),
          refTo('Event'),
          EVENTS,
        ]),
        example: [{ event_message: 'order made', project: 'alpha', metadata: { order: 7 } }],
      },
      ...Object.fromEntries(
        [...LINE_TYPES, ...UNTOLD_TYPES].map((type) => [
          type,
          { schema: { type: 'string' }, example: '{"event_message":"order made"}\n' },
        ]),
      ),
    },
  },
  answers: LOGGED_ANSWERS,
  failures: [...POST_TEXT.failures, 'events_refused'],
};

/** Answers that all events are stored. */
export function tellLogged(response: ServerResponse): void {
  sendJson(response, 200, { message: 'Logged!' });
}
