import type { Request, Response } from 'express';
import type { Pieces, PreparedQuery } from '../../engine/index.ts';
import type { Grant } from '../access/grant.ts';
import { toTenant } from '../access/tenant.ts';
import { type AnswerFormat, COLUMNS_FORMAT, JSON_FORMAT } from '../call/answer-format.ts';
import type { CallerQueries, CallerTables, SentDeclarations } from '../call/caller-queries.ts';
import type { EndpointCaller } from '../call/endpoint-call.ts';
import type { NamedRun, NamedRuns } from '../call/named-runs.ts';
import { type QueryCall, type RunCall, toRunCall } from '../call/query-runner.ts';
import type { Clock } from '../clock.ts';
import { acceptedFormat } from './accepted-format.ts';
import type { AnswerBudget } from './answer-budget.ts';
import { AnswerWriter } from './answer-writer.ts';
import { sendAnswer } from './call-answer.ts';
import { sendExplanation } from './explain-route.ts';
import { RUN_ID_HEADER } from './header-names.ts';
import { varyBy } from './response.ts';
import { workOnSql } from './sql-turns.ts';
import type { WorkTurns } from './work-turns.ts';

/** What answers calls. */
export type CallParts = {
  readonly caller: EndpointCaller;
  readonly callerQueries: CallerQueries;
  readonly answers: AnswerBudget;
  readonly turns: WorkTurns;
  readonly clock: Clock;
  /** Calls under way that their callers have named. */
  readonly runs: NamedRuns;
};

/** A call whose request was read. */
export type ReadCall = {
  readonly grant: Grant;
  /** The name of its query in an explanation. */
  readonly name: string;
  /** Its progress, if it was begun; else the header may name the call. */
  readonly run?: NamedRun;
  readonly isExplained: boolean;
  readonly format: AnswerFormat;
  /** How long a browser may keep the answer, in seconds. */
  readonly cacheS?: number | undefined;
  /** When the request was read. */
  readonly receivedMs: number;
  /** The SQL text that the caller sent, what it may name, and the parameters that came with it. */
  readonly text?:
    | {
        readonly sql: string;
        readonly tables: CallerTables;
        readonly declared?: SentDeclarations;
      }
    | undefined;
  /** Makes the call; of that text, once it is bound. */
  readonly create: (callerQuery: PreparedQuery | undefined) => QueryCall | RunCall;
};

/** Runs a call, or takes the answer that is kept, and sends it. */
export async function answerCall(
  request: Request,
  response: Response,
  parts: CallParts,
  call: ReadCall,
): Promise<void> {
  const run = call.run ?? beginNamedRun(request, response, parts.runs, call.grant);
  await answer(request, response, parts, run === undefined ? call : { ...call, run });
}

/**
 * Begins the call that the header of the request names. Without the header, the call has no name.
 *
 * @throws ServiceError as `beginRun` does.
 */
export function beginNamedRun(
  request: Request,
  response: Response,
  runs: NamedRuns,
  grant: Grant,
): NamedRun | undefined {
  const id = request.get(RUN_ID_HEADER);
  if (id === undefined) return undefined;
  return beginRun(response, runs, { id, grant, kind: 'call' });
}

/**
 * Begins a named call that is over when the answer has left.
 *
 * @throws ServiceError for an id that is none, or that another call of the token has.
 */
export function beginRun(
  response: Response,
  runs: NamedRuns,
  {
    id,
    grant,
    kind,
  }: { readonly id: string; readonly grant: Grant; readonly kind: 'call' | 'download' },
): NamedRun {
  const { run, end } = runs.begin(id, toTenant(grant), kind);
  // What is on its way can only be broken off.
  const breakOff = (): void => {
    if (response.headersSent) response.destroy();
  };
  run.cancelled.addEventListener('abort', breakOff);
  response.once('close', () => end(response.writableFinished));
  if (response.destroyed) end(false);
  return run;
}

async function answer(
  request: Request,
  response: Response,
  { caller, callerQueries, answers, turns, clock }: CallParts,
  { grant, name, run, isExplained, format, cacheS, receivedMs, text, create }: ReadCall,
): Promise<void> {
  const tenant = toTenant(grant);
  const isGone = (): boolean => response.destroyed || run?.cancelled.aborted === true;
  const inTurns = <T>(pieces: Pieces<T>, isStopped: () => boolean) =>
    workOnSql(turns, { sql: text?.sql ?? '', tenant, isGone: isStopped }, pieces);
  const callerQuery =
    text === undefined
      ? undefined
      : await inTurns(callerQueries.prepareInPieces(text.tables, text.sql, text.declared), isGone);
  const call = create(callerQuery);
  const cancelled = (): AbortSignal => goneSignal(response, run?.cancelled);
  const who = { tenant, cancelled, progress: run?.progress, inTurns };
  if (isExplained) {
    const explanation = await caller.explain('endpoint' in call ? toRunCall(call) : call, who);
    sendExplanation(request, response, explanation, name);
    return;
  }
  const calledMs = clock.monotonicMs();
  const answering = 'endpoint' in call ? caller.call(call, who) : caller.run(call, who);
  // Without a promise, the answer leaves in the turn of the event loop that brought the request.
  const answered = answering instanceof Promise ? await answering : answering;
  run?.noteSending((answered.kind === 'run' ? answered : answered.answer).truncatedTo);
  await sendAnswer(request, response, answered, {
    cacheS,
    format,
    hold: answers.holder(tenant, response),
    writer: new AnswerWriter(response, { turns, tenant }),
    parseMs: calledMs - receivedMs,
    callMs: clock.monotonicMs() - calledMs,
  });
}

/** Chooses the format from the end of the path, else from `Accept`. */
export function chooseFormat(
  request: Request,
  response: Response,
  asked: {
    readonly pathFormat: AnswerFormat | undefined;
    /** Whether JSON has the columns, too. */
    readonly hasColumns: boolean;
  },
): AnswerFormat {
  const { pathFormat, hasColumns } = asked;
  if (pathFormat === undefined) varyBy(response, 'Accept');
  const format = pathFormat ?? acceptedFormat(request.headers.accept);
  return format === JSON_FORMAT && hasColumns ? COLUMNS_FORMAT : format;
}

/** Makes a signal that aborts when the call is cancelled, or the connection closes before the answer has left. */
export function goneSignal(response: Response, cancelled?: AbortSignal): AbortSignal {
  const gone = new AbortController();
  // If the connection closed while the body was read, its event is over.
  if (response.destroyed || cancelled?.aborted === true) gone.abort();
  cancelled?.addEventListener('abort', () => gone.abort(), { once: true });
  response.on('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}
