import { ERROR_TABLE } from '../../src/errors.ts';
import { HEADERS_MS_MAX } from '../../src/limits.ts';
import type { ApiDocument, DocumentedOperation } from '../support/api-document.ts';
import type { RandomRequest } from './random-request.ts';
import type { RawAnswer } from './raw-exchange.ts';

/** What no answer may show: places in code, folders of the machine, tokens. */
const LEAKS: readonly RegExp[] = [
  /(?:\n|\\n)\s+at /,
  /\.[cm]?[jt]s:\d+/,
  /node:internal|node_modules/,
  /weir-test-/,
  /secret-/,
];

/** Statuses of requests that no operation is for. */
const STATUSES_ELSEWHERE: ReadonlySet<number> = new Set([204, 400, 404, 405, 408, 413, 431]);

/** What is there already, or is no more, or there is no room for, whatever the request. */
const STATUSES_OF_STATE: ReadonlySet<number> = new Set([404, 409, 412, 429, 503]);

/** A failure of a call as the profile `supabase` tells it, with the status 200. */
const SENTENCE = /^\{"error":"/;

/** What is wrong with an answer, whatever was asked; `undefined` where nothing is. */
export function answerProblem(
  document: ApiDocument,
  request: RandomRequest,
  answer: RawAnswer,
): string | undefined {
  const { status, headers, text } = answer;
  if (!(status >= 200 && status < 600)) return `${status} is no status`;
  if (status === 500) return `the service made a mistake: ${text}`;
  const all = [...headers].join('\n') + text;
  const leak = LEAKS.find((pattern) => pattern.test(all));
  if (leak !== undefined) return `the answer shows ${leak}`;
  return headerProblem(answer) ?? bodyProblem(document, request, answer);
}

function headerProblem({ status, headers }: RawAnswer): string | undefined {
  if (headers.get('x-content-type-options') !== 'nosniff') return 'it may be sniffed';
  if (headers.get('access-control-allow-origin') !== '*') return 'pages may not read it';
  if (headers.has('www-authenticate') !== (status === 401)) return 'WWW-Authenticate is for 401';
  const isLater = status === 429 || status === 503;
  if (isLater && !/^\d+$/.test(headers.get('retry-after') ?? ''))
    return 'it says not when to return';
  return undefined;
}

function bodyProblem(
  document: ApiDocument,
  request: RandomRequest,
  answer: RawAnswer,
): string | undefined {
  const { status, headers, text } = answer;
  const operation = findOperation(document, request);
  const isBodyless = request.method === 'HEAD';
  if (operation === undefined || status === 405 || request.method === 'OPTIONS') {
    // Some senders want 200 to OPTIONS.
    const isOptions = request.method === 'OPTIONS' && text === '';
    const isTold =
      STATUSES_ELSEWHERE.has(status) || (status === 200 && (isOptions || SENTENCE.test(text)));
    if (!isTold) return `${status} where there is no operation`;
    const isFine = isBodyless || text === '' || tellsInText(document, request, answer);
    return isFine ? undefined : failureProblem(text);
  }
  // Of what cannot be read as a request only its bytes are known, not its path.
  if (!document.responses(operation).has(status)) return `${status} is not documented`;
  if (isBodyless || headers.get('content-type')?.startsWith('text/event-stream')) return undefined;
  const contentType = headers.get('content-type');
  // What there is not is as good as forbidden in the profile `supabase`.
  const isGone = request.mayBeGone && status === 401;
  // On a busy machine a request in pieces may take too long.
  const isLate = status === 408 && (answer.ms ?? 0) >= HEADERS_MS_MAX;
  const isExcused = STATUSES_OF_STATE.has(status) || isGone || isLate;
  const isRefused = request.isValid && status >= 400 && !isExcused;
  return (
    document.answerProblem(operation, { status, contentType, text }) ??
    (isRefused ? `a request as documented is refused: ${text}` : undefined)
  );
}

/** Whether the failure is plain text, as the document has it for a refused request of another method at this path. */
function tellsInText(
  document: ApiDocument,
  { path }: RandomRequest,
  { headers, text }: RawAnswer,
): boolean {
  const contentType = headers.get('content-type');
  if (contentType?.startsWith('text/plain') !== true) return false;
  return document.operations.some(
    (operation) =>
      findOperation(document, { method: operation.method, path }) === operation &&
      document.answerProblem(operation, { status: 400, contentType, text }) === undefined,
  );
}

/** A failure in one of the forms that there are, with a code of the table. */
function failureProblem(text: string): string | undefined {
  let value: Readonly<Record<string, unknown>>;
  try {
    value = JSON.parse(text);
  } catch {
    return `a failure is JSON; got ${text.slice(0, 200)}`;
  }
  const { error, errors, code, errorMessage } = value as {
    error?: { code?: string; type?: string } | string;
    /** As Datadog lists them. */
    errors?: readonly { detail?: string }[];
    code?: string;
    errorMessage?: string;
  };
  const told = typeof error === 'object' ? (error.code ?? error.type) : code;
  const sentences = [error, errorMessage, errors?.[0]?.detail];
  const isSentence = sentences.some((each) => typeof each === 'string');
  if (isSentence || typeof told === 'number') return undefined;
  const isKnown = [...ERROR_TABLE.keys()].some((known) => known === told);
  return isKnown ? undefined : `${told} is no code of the table`;
}

/** The operation a request reaches: the path as it is first, then as a template. */
export function findOperation(
  document: ApiDocument,
  { method, path }: Pick<RandomRequest, 'method' | 'path'>,
): DocumentedOperation | undefined {
  const asked = path.replace(/[?#].*/s, '').replace(/(?<=.)\/$/s, '');
  // HEAD is answered as GET where there is one.
  const wanted = method === 'HEAD' ? ['GET', 'HEAD'] : [method];
  const operations = wanted.flatMap((each) =>
    document.operations.filter((one) => one.method === each),
  );
  return (
    operations.find((one) => one.path === asked) ??
    operations.find((one) => isPathOf(document, one, asked))
  );
}

/** Whether the path is one of the template's, and its parts are what the operation wants them to be. */
function isPathOf(document: ApiDocument, { path, object }: DocumentedOperation, asked: string) {
  const found = patternOf(path).exec(asked)?.groups;
  if (found === undefined) return path === asked;
  return Object.entries(found).every(([name, part]) => {
    const parameter = object.parameters?.find((one) => one.in === 'path' && one.name === name);
    return document.problemOf(parameter!.schema, part) === undefined;
  });
}

function patternOf(path: string): RegExp {
  const escaped = path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}
