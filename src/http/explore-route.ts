import type { Response } from 'express';
import { QueryError } from '../../engine/columns.ts';
import type { HeldSnapshot, RunProgress } from '../../engine/index.ts';
import type { Source } from '../../ingest/source.ts';
import { authorizeEvents, authorizeProject, type Grant, toReach } from '../access/grant.ts';
import { toTenant } from '../access/tenant.ts';
import { unknownSource } from '../doors/post-address.ts';
import { fromQueryError, ServiceError } from '../errors.ts';
import { type ExploreRequest, parseExploreRequest } from '../explore/explore-request.ts';
import { type ExploreLine, type ExploreTools, explore } from '../explore/explorer.ts';
import { toKnownField } from '../explore/field-path.ts';
import { EXPLORE_BODY_BYTES_MAX, QUERY_MS_MAX } from '../limits.ts';
import { EXPLORE_TEXT } from '../openapi/explore-text.ts';
import type { LogIntake } from '../store/log-intake.ts';
import { AnswerWriter } from './answer-writer.ts';
import { readJsonBody } from './json-body.ts';
import { beginNamedRun, goneSignal } from './read-call.ts';
import type { GuardedOperation, Route } from './route.ts';
import type { RouteOptions } from './routes.ts';
import { workOnSql } from './sql-turns.ts';

export function exploreRoute(options: RouteOptions): Route {
  const operation: GuardedOperation = {
    ...EXPLORE_TEXT,
    access: { scope: 'explore', tokenIn: 'headers' },
    handle: exploreHandler(options),
  };
  return { path: '/api/explore', operations: { POST: operation } };
}

/** Answers with lines of JSON, each as soon as it is there. */
function exploreHandler(options: RouteOptions): GuardedOperation['handle'] {
  const { callBodies: bodies, intake, clock, runs } = options;
  return async (request, response, { grant }) => {
    const terms = { bytesMax: EXPLORE_BODY_BYTES_MAX, tenant: toTenant(grant) };
    const value = await readJsonBody(request, response, { bodies, terms });
    const explored = parseExploreRequest(value, clock.nowUs());
    const source = findExplored(explored.source, intake, grant);
    if (explored.project !== undefined) authorizeProject(grant, explored.project);
    const tenant = toTenant(grant);
    const hold = options.answers.holder(tenant, response);
    const run = beginNamedRun(request, response, runs, grant);
    const signal = goneSignal(response, run?.cancelled);
    const { progress } = run ?? {};
    const tools = createTools({ ...options, grant, signal, hold, progress });
    const writer = new AnswerWriter(response, { turns: options.turns, tenant });
    await sendLines(response, writer, explore(explored, source, tools));
  };
}

/** @throws ServiceError if there is no such source, or the token may not see its events. */
export function findExplored(
  name: string,
  intake: Pick<LogIntake, 'findSource' | 'listSources'>,
  grant: Grant,
): Source {
  const source = intake.findSource(name);
  authorizeEvents(grant, name, source);
  if (source === undefined) throw unknownSource(name, intake, grant);
  return source;
}

/** Runs texts as calls of one token: within its reach, in its turns, and only as long as it listens. */
export function createTools(
  parts: Pick<
    RouteOptions,
    'engine' | 'caller' | 'callerQueries' | 'tables' | 'turns' | 'clock'
  > & {
    readonly grant: Grant;
    /** Aborted when nobody waits for the answers any more. */
    readonly signal: AbortSignal;
    /** Called with the number of bytes of each answer; throws if there is no room for them. */
    readonly hold: (bytes: number) => void;
    readonly progress?: RunProgress | undefined;
  },
): ExploreTools {
  const { engine, caller, callerQueries, turns, clock, tables, grant, signal, hold } = parts;
  const tenant = toTenant(grant);
  const reach = toReach(grant);
  const bind = (sql: string) =>
    workOnSql(
      turns,
      { sql, tenant, isGone: () => signal.aborted },
      callerQueries.prepareInPieces(tables.find(grant), sql),
    );
  const { projects } = reach;
  return {
    check: async (sql) => void (await bind(sql)),
    run: async (sql, { rowsMax, snapshot }) => {
      const call = { isSent: true, rowsMax, parameters: new Map(), reach, snapshot };
      const { answer } = await caller.run(
        { ...call, query: await bind(sql) },
        {
          tenant,
          cancelled: () => signal,
          progress: parts.progress,
          inTurns: (pieces, isGone) => workOnSql(turns, { sql, tenant, isGone }, pieces),
        },
      );
      try {
        hold(answer.json.length);
      } catch (error) {
        answer.release();
        throw error;
      }
      return answer;
    },
    onlyProject: projects !== 'all' && projects.length === 1 ? projects[0] : undefined,
    takeSnapshot: (scope) => engine.takeSnapshot(scope),
    findFields: (request, source, snapshot) =>
      findKnownFields(engine, { request, source, snapshot, reach, tenant, signal }),
    nowMs: () => clock.monotonicMs(),
    msMax: QUERY_MS_MAX,
  };
}

async function findKnownFields(
  engine: RouteOptions['engine'],
  of: {
    readonly request: ExploreRequest;
    readonly source: Source;
    readonly snapshot: HeldSnapshot;
    readonly reach: ReturnType<typeof toReach>;
    readonly tenant: ReturnType<typeof toTenant>;
    readonly signal: AbortSignal;
  },
): ReturnType<ExploreTools['findFields']> {
  const { request, source, snapshot, reach, tenant, signal } = of;
  const window = { startUs: request.window.fromUs, endUs: request.window.toUs };
  const order = { source: source.name, projectKey: request.project, window, withValues: false };
  const found = await engine.countFields({ ...order, reach, snapshot, tenant }, signal);
  return found.fields.map(toKnownField);
}

/** Sends lines at the rate of the caller. What goes wrong after the first is a line, too. */
async function sendLines(
  response: Response,
  writer: AnswerWriter,
  lines: AsyncGenerator<ExploreLine>,
): Promise<void> {
  try {
    for await (const line of lines) {
      if (!response.headersSent) {
        response.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8');
        // A proxy that collects an answer would hold the first rows back.
        response.setHeader('X-Accel-Buffering', 'no');
      }
      if (response.destroyed) return;
      await writer.write(Buffer.concat([...line, '\n'].map((part) => Buffer.from(part))));
    }
    response.end();
  } catch (error) {
    const known = error instanceof QueryError ? fromQueryError(error) : error;
    if (!(known instanceof ServiceError) || !response.headersSent) throw known;
    const { code, message } = known;
    response.end(`${JSON.stringify({ type: 'error', error: { code, message } })}\n`);
  }
}
