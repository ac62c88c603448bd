import { must } from '../../engine/columns.ts';
import { TOKEN_REFUSALS, TokenError } from '../access/authenticate.ts';
import { ERROR_TABLE, type ErrorCode, ServiceError } from '../errors.ts';
import type { FailedRequest, TellFailure } from '../http/failure.ts';
import type { Operation, Route } from '../http/route.ts';
import type { Answers } from './answers.ts';
import type { FailureSchemas, MediaText } from './operation-text.ts';

/** The format of a route's failures, and its schemas. */
export type FailureForm = { readonly tell: TellFailure; readonly schemas: FailureSchemas };

/** Codes of every operation. */
const CODES_OF_ALL: readonly ErrorCode[] = ['invalid_request', 'internal'];

/** Codes of requests that cannot be read: they have no route, and no header that selects a format. */
const CODES_UNREAD: readonly ErrorCode[] = [
  'invalid_request',
  'request_timeout',
  'headers_too_large',
];

const CODES_OF_BODIES: readonly ErrorCode[] = [
  'invalid_body',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
];

/** All codes with which an operation may fail, in the order of the table. */
export function listCodes(operation: Operation, route: Route): readonly ErrorCode[] {
  const codes = new Set([...CODES_OF_ALL, ...(operation.failures ?? [])]);
  if (route.isAlwaysServed !== true) for (const code of CODES_OF_STATE) codes.add(code);
  for (const code of codesOfAccess(operation)) codes.add(code);
  if (operation.body !== undefined) for (const code of CODES_OF_BODIES) codes.add(code);
  return [...ERROR_TABLE.keys()].filter((code) => codes.has(code));
}

const CODES_OF_STATE: readonly ErrorCode[] = ['not_ready', 'draining'];

function codesOfAccess({ access }: Operation): readonly ErrorCode[] {
  if (access === 'open') return [];
  const codes: ErrorCode[] = ['unauthorized', 'tokens_refused'];
  if (access === 'optional') return codes;
  if (access.scope !== 'any') codes.push('forbidden');
  if (access.tokenIn !== 'headers') codes.push('repeated_parameter');
  return codes;
}

/** The failures with these codes, by status, for all media types that a caller may send. */
export function failureAnswers(
  codes: readonly ErrorCode[],
  form: FailureForm,
  bodyTypes: readonly string[],
): Answers {
  const requests = [undefined, 'application/problem+json'].flatMap((accept) =>
    [undefined, ...bodyTypes].map((contentType) => ({ requestId: '', accept, contentType })),
  );
  return answersTo(requests, codes, form);
}

/** The server's own answers to requests that it cannot read. */
export function unreadAnswers(form: FailureForm): Answers {
  return answersTo([{ requestId: '', accept: undefined }], CODES_UNREAD, form);
}

/** Calls the formatter of failures as for a real request, so that a profile's statuses are defined in one place. */
function answersTo(
  requests: readonly FailedRequest[],
  codes: readonly ErrorCode[],
  { tell, schemas }: FailureForm,
): Answers {
  const told = new Map<number, Map<string, ErrorCode[]>>();
  for (const code of codes) {
    for (const [status, mediaType] of listWays(code, tell, requests)) {
      const types = told.get(status) ?? new Map<string, ErrorCode[]>();
      told.set(status, types.set(mediaType, [...(types.get(mediaType) ?? []), code]));
    }
  }
  return new Map(
    Array.from(told, ([status, types]) => {
      const content = Array.from(types, ([mediaType, codesTold]): [string, MediaText] => {
        const describeFailure = must(schemas[mediaType], `failures in ${mediaType} have a schema`);
        return [mediaType, { schema: describeFailure(codesTold) }];
      });
      const all = new Set([...types.values()].flat());
      return [
        status,
        {
          description: Array.from(all, formatSentence).join('\n'),
          content: Object.fromEntries(content),
          headers: describeHeaders([...all]),
        },
      ];
    }),
  );
}

/** The status and media type of a failure for every kind of request. */
function listWays(
  code: ErrorCode,
  tell: TellFailure,
  requests: readonly FailedRequest[],
): ReadonlySet<readonly [number, string]> {
  const ways = new Map<string, readonly [number, string]>();
  for (const request of requests) {
    for (const error of listErrors(code)) {
      const failure = tell(error, request);
      const [mediaType = ''] = failure.contentType.split(';');
      ways.set(`${failure.status} ${mediaType}`, [failure.status, mediaType]);
    }
  }
  return new Set(ways.values());
}

/** Some formats have one status for a missing token and another for an unknown one. */
function listErrors(code: ErrorCode): readonly ServiceError[] {
  if (code !== 'unauthorized') return [new ServiceError(code, '')];
  return TOKEN_REFUSALS.map((reason) => new TokenError(reason, ''));
}

function formatSentence(code: ErrorCode): string {
  return `- \`${code}\`: ${ERROR_TABLE.get(code)!.title}`;
}

function describeHeaders(codes: readonly ErrorCode[]): Readonly<Record<string, string>> {
  const entries = codes.map((code) => ERROR_TABLE.get(code)!);
  return {
    ...(entries.some(({ retryAfterS }) => retryAfterS !== undefined) && {
      'Retry-After': 'Seconds until a retry may succeed',
    }),
    ...(entries.some(({ status }) => status === 401) && {
      'WWW-Authenticate': 'The authentication that is required',
    }),
  };
}
