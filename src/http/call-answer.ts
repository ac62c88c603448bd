import type { IncomingMessage, ServerResponse } from 'node:http';
import { type RunStats, type Waited, WORK_KINDS } from '../../engine/index.ts';
import type { AnswerFormat } from '../call/answer-format.ts';
import type { EndpointAnswer, RunAnswer, SharedAnswer } from '../call/endpoint-call.ts';
import { formatEtag, isCompressible, RESULT_END, RESULT_START } from '../call/kept-answer.ts';
import type { RowsRewriter } from '../call/rows-rewriter.ts';
import type { AnswerWriter } from './answer-writer.ts';
import { COMPLETE_UNTIL_HEADER, TRUNCATED_HEADER } from './header-names.ts';
import { namesTag, preferredEncoding } from './http-caching.ts';
import { lostDaysWarnings } from './lost-days-warning.ts';
import { varyBy } from './response.ts';
import { setWarnings } from './warnings.ts';

/** Milliseconds of other work from which it is reported. */
const BESIDE_MS_MIN = 0.5;

/** Milliseconds of the parts of a call outside of its run. */
type CallTimes = { readonly parseMs: number; readonly callMs: number };

/** How an answer is sent, as the definition and the caller request. */
export type CallManner = CallTimes & {
  /** How long the definition allows caching, in seconds. */
  readonly cacheS: number | undefined;
  readonly format: AnswerFormat;
  /** Called with the number of bytes before any are sent; throws if there is no room for them. */
  readonly hold: (bytes: number) => void;
  readonly writer: AnswerWriter;
};

/** Sends the answer of a call, or only its headers if the caller has it already. */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: EndpointAnswer,
  manner: CallManner,
): Promise<void> {
  if (answer.kind === 'shared') await sendShared(request, response, answer, manner);
  else await sendRun(request, response, answer, manner);
}

async function sendRun(
  request: IncomingMessage,
  response: ServerResponse,
  { answer, columns, truncatedTo, digest }: RunAnswer,
  { format, parseMs, hold, writer }: CallManner,
): Promise<void> {
  if (response.destroyed) {
    answer.release();
    return;
  }
  // The memory of the rows is used until the last of them has left, or the caller has disconnected.
  response.once('close', answer.release);
  hold(answer.json.length);
  setWarnings(response, lostDaysWarnings(answer.lostDays));
  setTruncated(response, truncatedTo);
  setCompleteUntil(response, answer.completeUntilUs);
  response.setHeader('Cache-Control', 'private, no-cache');
  response.setHeader('Cache-Status', 'weir; fwd=bypass');
  response.setHeader('Server-Timing', `${duration('parse', parseMs)}, ${runTiming(answer.stats)}`);
  const etag = formatEtag(digest(), format, 'identity');
  if (isUnchanged(request, response, etag)) return;
  const { json } = answer;
  if (format.rewriter === undefined) {
    // The rows are JSON already, and are sent without copying.
    await writer.send(format.contentType, [RESULT_START, json, RESULT_END]);
  } else await sendPieces(response, writer, format.contentType, format.rewriter(json, columns));
}

async function sendShared(
  request: IncomingMessage,
  response: ServerResponse,
  shared: SharedAnswer,
  manner: CallManner,
): Promise<void> {
  const { answer } = shared;
  const { format, cacheS = 0 } = manner;
  let form = answer.plain(format);
  if (form instanceof Promise) form = await form;
  if (isCompressible(form)) {
    const made = answer.form(format, preferredEncoding(request.headers['accept-encoding']));
    form = made instanceof Promise ? await made : made;
    varyBy(response, 'Accept-Encoding');
  }
  manner.hold(form.bytes.length);
  setWarnings(response, lostDaysWarnings(shared.lostDays));
  setTruncated(response, answer.truncatedTo);
  setCompleteUntil(response, answer.completeUntilUs);
  const ageS = Math.floor(shared.ageMs / 1000);
  response.setHeader('Age', ageS);
  // The missing rows may be available again soon, so such an answer is not cached.
  const isWhole = shared.lostDays.length === 0;
  response.setHeader('Cache-Control', `private, ${isWhole ? `max-age=${cacheS}` : 'no-cache'}`);
  response.setHeader('Cache-Status', formatCacheStatus(shared, cacheS - ageS));
  response.setHeader('Server-Timing', sharedTiming(shared, manner));
  if (isUnchanged(request, response, form.etag)) return;
  if (form.encoding !== 'identity') response.setHeader('Content-Encoding', form.encoding);
  await manner.writer.send(format.contentType, [form.bytes]);
}

function setTruncated(response: ServerResponse, rowCount: number | undefined): void {
  if (rowCount !== undefined) response.setHeader(TRUNCATED_HEADER, rowCount);
}

/** The time is rounded down to milliseconds: an earlier one is true, too. */
function setCompleteUntil(response: ServerResponse, us: number | undefined): void {
  if (us === undefined) return;
  response.setHeader(COMPLETE_UNTIL_HEADER, new Date(Math.floor(us / 1000)).toISOString());
}

/** Sends a rewritten answer at the rate of its caller; a short one with its length. */
async function sendPieces(
  response: ServerResponse,
  writer: AnswerWriter,
  contentType: string,
  rewriter: RowsRewriter,
): Promise<void> {
  const first = rewriter.next() ?? new Uint8Array(0);
  const piece = rewriter.next();
  if (piece === undefined) {
    await writer.send(contentType, [first]);
    return;
  }
  response.setHeader('Content-Type', contentType);
  if (response.req.method !== 'HEAD') {
    await writer.write(first);
    await writer.write(piece);
    await writePieces(response, writer, rewriter);
  }
  response.end();
}

/** Writes the pieces that are left, at the rate of the caller, until the connection is closed. */
export async function writePieces(
  response: ServerResponse,
  writer: AnswerWriter,
  rewriter: RowsRewriter,
): Promise<void> {
  for (let piece = rewriter.next(); piece !== undefined && !response.destroyed; ) {
    await writer.write(piece);
    piece = rewriter.next();
  }
}

/** Sets the tag, and answers 304 if the caller has that version. */
function isUnchanged(request: IncomingMessage, response: ServerResponse, etag: string): boolean {
  response.setHeader('ETag', etag);
  // A POST has no representation that a tag could name (RFC 9110 §13.2.1).
  if (request.method === 'POST') return false;
  if (!namesTag(request.headers['if-none-match'], etag)) return false;
  response.statusCode = 304;
  response.end();
  return true;
}

/** The `Cache-Status` header (RFC 9211). */
function formatCacheStatus({ from }: SharedAnswer, ttlS: number): string {
  switch (from) {
    case 'cache':
      return `weir; hit; ttl=${ttlS}`;
    case 'kept-run':
      return 'weir; fwd=miss; stored';
    case 'run':
      return 'weir; fwd=miss';
    case 'run-of-another':
      return 'weir; fwd=miss; collapsed';
  }
}

/** The time beside the run's is the cache's: look-up, copying, and waiting for another caller's run. */
function sharedTiming({ stats }: SharedAnswer, { parseMs, callMs }: CallTimes): string {
  const parse = duration('parse', parseMs);
  if (stats === undefined) return `${parse}, ${duration('cache', callMs)}`;
  const cacheMs = Math.max(0, callMs - stats.planMs - stats.queueMs - stats.runMs);
  return `${parse}, ${runTiming(stats)}, ${duration('cache', cacheMs)}`;
}

function runTiming({ planMs, queueMs, runMs, waited }: RunStats): string {
  const queue = waited === undefined ? duration('queue', queueMs) : queueTiming(queueMs, waited);
  return `${duration('plan', planMs)}, ${queue}, ${duration('run', runMs)}`;
}

/** The run's wait for a thread, and the other work of threads meanwhile, in milliseconds over all threads. */
function queueTiming(queueMs: number, { ms, besideMs }: Waited): string {
  const beside = WORK_KINDS.filter((kind) => besideMs[kind] >= BESIDE_MS_MIN).map(
    (kind) => ` ${kind} ${besideMs[kind].toFixed(0)}`,
  );
  const besideText = beside.length === 0 ? '' : ` beside${beside.join('')}`;
  return `${duration('queue', queueMs)};desc="waited ${ms.toFixed(1)}${besideText}"`;
}

function duration(name: string, ms: number): string {
  return `${name};dur=${ms.toFixed(3)}`;
}
