import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RunStats } from '../../engine/engine.ts';
import type { EndpointAnswer, SharedAnswer } from '../call/endpoint-call.ts';
import { etagOf, RESULT_END, RESULT_START } from '../call/kept-answer.ts';
import { namesTag, preferredEncoding } from './http-caching.ts';
import { sendBytes } from './response.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Milliseconds of the parts of a call that are not its run's. */
export type CallTimes = { readonly parseMs: number; readonly callMs: number };

/**
 * Sends the answer of a call, or only its headers where the caller has it already. `cacheS` is how
 * long the definition lets answers be kept.
 */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: EndpointAnswer,
  times: CallTimes & { readonly cacheS: number | undefined },
): Promise<void> {
  if (answer.kind === 'shared') {
    await sendShared(request, response, answer, { ...times, cacheS: times.cacheS ?? 0 });
    return;
  }
  response.setHeader('Cache-Control', 'private, no-cache');
  response.setHeader('Cache-Status', 'weir; fwd=bypass');
  response.setHeader(
    'Server-Timing',
    `${duration('parse', times.parseMs)}, ${runTiming(answer.stats)}`,
  );
  if (response.destroyed || isUnchanged(request, response, etagOf(answer.digest, 'identity'))) {
    answer.release();
    return;
  }
  // The rows are JSON already; they pass through as they are, and are not copied. Their memory is
  // read until the last of them has left, or until there is no one to read them.
  response.once('close', answer.release);
  sendBytes(response, 200, JSON_TYPE, [RESULT_START, answer.json, RESULT_END]);
}

async function sendShared(
  request: IncomingMessage,
  response: ServerResponse,
  shared: SharedAnswer,
  times: CallTimes & { readonly cacheS: number },
): Promise<void> {
  const { answer } = shared;
  const { cacheS } = times;
  let form = answer.identity;
  if (answer.isCompressible) {
    const made = answer.form(preferredEncoding(request.headers['accept-encoding']));
    form = made instanceof Promise ? await made : made;
    response.setHeader('Vary', 'Accept-Encoding');
  }
  const ageS = Math.floor(shared.ageMs / 1000);
  response.setHeader('Age', ageS);
  response.setHeader('Cache-Control', `private, max-age=${cacheS}`);
  response.setHeader('Cache-Status', cacheStatusOf(shared, cacheS - ageS));
  response.setHeader('Server-Timing', sharedTiming(shared, times));
  if (isUnchanged(request, response, form.etag)) return;
  if (form.encoding !== 'identity') response.setHeader('Content-Encoding', form.encoding);
  sendBytes(response, 200, JSON_TYPE, [form.bytes]);
}

/** Sets the tag, and answers 304 where the caller has what it names. */
function isUnchanged(request: IncomingMessage, response: ServerResponse, etag: string): boolean {
  response.setHeader('ETag', etag);
  // A POST has no bytes of its own that a tag could name (RFC 9110 §13.2.1).
  if (request.method === 'POST') return false;
  if (!namesTag(request.headers['if-none-match'], etag)) return false;
  response.statusCode = 304;
  response.end();
  return true;
}

/** How the answer came about (RFC 9211). */
function cacheStatusOf({ from }: SharedAnswer, ttlS: number): string {
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

/** What is not the run's time is the cache's: looking up, copying, waiting for another's run. */
function sharedTiming({ stats }: SharedAnswer, { parseMs, callMs }: CallTimes): string {
  const parse = duration('parse', parseMs);
  if (stats === undefined) return `${parse}, ${duration('cache', callMs)}`;
  const cacheMs = Math.max(0, callMs - stats.planMs - stats.queueMs - stats.runMs);
  return `${parse}, ${runTiming(stats)}, ${duration('cache', cacheMs)}`;
}

function runTiming({ planMs, queueMs, runMs }: RunStats): string {
  return `${duration('plan', planMs)}, ${duration('queue', queueMs)}, ${duration('run', runMs)}`;
}

function duration(name: string, ms: number): string {
  return `${name};dur=${ms.toFixed(3)}`;
}
