import { SCOPES } from '../access/grant.ts';
import { describeList, describeObject, refTo } from '../openapi/schemas.ts';
import type { Access, GuardedOperation, Route } from './route.ts';
import type { RouteOptions } from './routes.ts';
import {
  ownTokenHandler,
  tokenHandler,
  tokenListHandler,
  tokenMakingHandler,
  tokenQuotaHandler,
  tokenRevokingHandler,
} from './token-route.ts';

const MANAGING: Access = { scope: 'manage', tokenIn: 'headers' };

const STRING = { type: 'string' } as const;
const ISO_TIME = { type: 'string', description: 'ISO 8601, by the clock of the machine' } as const;

const COUNT = { type: 'integer', minimum: 1 } as const;
const COUNT_OR_NONE = { type: ['integer', 'null'], minimum: 1 } as const;
const QUOTA_CHANGE = {
  events_per_day: COUNT_OR_NONE,
  bytes_per_day: COUNT_OR_NONE,
  stored_bytes: COUNT_OR_NONE,
};

const OWN_TOKEN = describeObject(
  { name: STRING, scopes: describeList(STRING) },
  {
    projects: describeList(STRING),
    sources: describeList(STRING),
    endpoints: describeList(STRING),
    expires_at: ISO_TIME,
  },
);

const OWN_TOKEN_ROUTE: Route = {
  path: '/api/token',
  operations: {
    GET: {
      summary: 'Read what the token of the caller may do',
      description: 'Projects, sources and endpoints are absent if the token is not bound to any.',
      tag: 'tokens',
      answers: jsonAnswer(200, 'What it may do', OWN_TOKEN),
      access: { scope: 'any', tokenIn: 'headers' },
      handle: ownTokenHandler,
    },
  },
};

/** Routes that list, make and revoke tokens. */
export function tokenRoutes(options: RouteOptions): readonly Route[] {
  const { tokens, clock, callBodies } = options;
  const make = tokenMakingHandler({ ...options, bodies: callBodies, wallMs: clock.wallMs });
  return [
    OWN_TOKEN_ROUTE,
    {
      path: '/api/tokens',
      operations: {
        GET: {
          summary: 'List all tokens',
          tag: 'tokens',
          answers: jsonAnswer(200, 'All tokens without their texts', describeList(refTo('Token'))),
          access: MANAGING,
          handle: tokenListHandler(options),
        },
        POST: making(make),
      },
    },
    {
      path: '/api/tokens/:id',
      pathParameters: { id: { description: 'As in the list of tokens' } },
      operations: {
        GET: {
          summary: 'Read what a token allows',
          tag: 'tokens',
          answers: jsonAnswer(200, 'The token, without its text', refTo('Token')),
          failures: ['unknown_token'],
          access: MANAGING,
          handle: tokenHandler(options),
        },
        PATCH: {
          summary: 'Change the quota of a token',
          description:
            'A missing member stays, and null removes a quota. The change applies from the next post on.',
          tag: 'tokens',
          body: {
            isRequired: true,
            content: {
              'application/json': {
                example: { events_per_day: 1_000_000, bytes_per_day: null },
                schema: describeObject({}, QUOTA_CHANGE),
              },
            },
          },
          answers: jsonAnswer(200, 'The token, without its text', refTo('Token')),
          failures: [
            'unknown_token',
            'token_conflict',
            'invalid_body',
            'overloaded',
            'storage_failed',
          ],
          access: MANAGING,
          handle: tokenQuotaHandler({ ...options, bodies: callBodies }),
        },
        DELETE: {
          summary: 'Revoke a token',
          description:
            'It is invalid from the next request on. Tokens of the settings cannot be revoked.',
          tag: 'tokens',
          answers: { 204: { description: 'It is revoked' } },
          failures: ['unknown_token', 'token_conflict', 'storage_failed'],
          access: MANAGING,
          handle: tokenRevokingHandler(tokens),
        },
      },
    },
  ];
}

function making(handle: GuardedOperation['handle']): GuardedOperation {
  const made = { allOf: [refTo('Token'), describeObject({ token: STRING })] };
  return {
    summary: 'Create a token',
    description:
      'The text of the token is in this answer only. A token cannot create a token that may do more or that expires later.',
    tag: 'tokens',
    body: {
      isRequired: true,
      content: {
        'application/json': {
          example: { name: 'shop', scopes: ['ingest'], projects: ['alpha'] },
          schema: describeObject(
            { name: STRING, scopes: describeList({ enum: SCOPES }) },
            {
              projects: describeList(STRING),
              sources: describeList(STRING),
              endpoints: describeList(STRING),
              default_source: STRING,
              events_per_day: COUNT,
              bytes_per_day: COUNT,
              stored_bytes: COUNT,
              expires_at: ISO_TIME,
            },
          ),
        },
      },
    },
    answers: {
      ...jsonAnswer(201, 'The token, and its text', made),
    },
    failures: ['invalid_body', 'token_conflict', 'overloaded', 'storage_failed'],
    access: MANAGING,
    handle,
  };
}

function jsonAnswer(
  status: number,
  description: string,
  schema: Readonly<Record<string, unknown>>,
): GuardedOperation['answers'] {
  const content = { 'application/json': { schema: describeObject({ result: schema }) } };
  return { [status]: { description, content } };
}
