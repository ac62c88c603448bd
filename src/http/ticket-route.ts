import type { Request, Response } from 'express';
import { must, QueryError } from '../../engine/columns.ts';
import { authorizeProject, type Grant } from '../access/grant.ts';
import { toTenant } from '../access/tenant.ts';
import { ANSWER_FORMATS, type AnswerFormat } from '../call/answer-format.ts';
import { type DownloadTicket, DownloadTickets } from '../call/download-tickets.ts';
import type { NamedRun } from '../call/named-runs.ts';
import { readValues } from '../call/sent-parameters.ts';
import { echoValue, formatChoices } from '../echo.ts';
import { fromQueryError, ServiceError } from '../errors.ts';
import { type ExploreRequest, parseExploreRequest } from '../explore/explore-request.ts';
import { checkCondition } from '../explore/explore-sql.ts';
import { parseSearch } from '../explore/search.ts';
import { EXPLORE_BODY_BYTES_MAX, EXPLORE_WHERE_LENGTH_MAX } from '../limits.ts';
import { DOWNLOAD_TEXT, TICKET_TEXT } from '../openapi/ticket-text.ts';
import { sendEvents } from './events-download.ts';
import { findExplored } from './explore-route.ts';
import { readJsonBody } from './json-body.ts';
import { toReadCall } from './query-route.ts';
import { answerCall, beginRun } from './read-call.ts';
import { sendJson } from './response.ts';
import {
  type Bearer,
  type GuardedOperation,
  type OpenOperation,
  pathParameter,
  type Route,
} from './route.ts';
import type { RouteOptions } from './routes.ts';
import { parseQueryBody, type SentQuery, toSentQuery } from './sent-query.ts';
import { workOnSql } from './sql-turns.ts';

/** What a ticket downloads: the answer of a query, or all events that match. */
type Download = { readonly format: AnswerFormat } & (
  | { readonly query: SentQuery }
  | { readonly explored: ExploreRequest }
);

type TicketParts = RouteOptions & { readonly tickets: DownloadTickets<Download> };

/** Routes of downloads that a browser does by itself: the ticket is made with a token, and used without. */
export function ticketRoutes(options: RouteOptions): readonly Route[] {
  const tickets = new DownloadTickets<Download>(() => options.clock.wallMs());
  const parts: TicketParts = { ...options, tickets };
  const making: GuardedOperation = {
    ...TICKET_TEXT,
    access: { scope: 'explore', tokenIn: 'headers' },
    handle: (request, response, bearer) => makeTicket(request, response, bearer, parts),
  };
  const using: OpenOperation = {
    ...DOWNLOAD_TEXT,
    access: 'open',
    handle: (request, response) => useTicket(request, response, parts),
  };
  return [
    { path: TICKETS_PATH, operations: { POST: making } },
    {
      path: `${TICKETS_PATH}/:id`,
      pathParameters: { id: { description: 'The id in the answer that created the ticket' } },
      operations: { GET: using },
    },
  ];
}

const TICKETS_PATH = '/api/query/tickets';

async function makeTicket(
  request: Request,
  response: Response,
  { grant }: Bearer,
  parts: TicketParts,
): Promise<void> {
  const { callBodies: bodies, clock, tickets } = parts;
  const terms = { bytesMax: EXPLORE_BODY_BYTES_MAX, tenant: toTenant(grant) };
  const value = await readJsonBody(request, response, { bodies, terms });
  const download = parseDownload(value, clock.nowUs());
  if ('query' in download) await checkQuery(download.query, response, { ...parts, grant });
  else checkExplored(download.explored, parts, grant);
  const { id, expiresMs } = tickets.make(grant, download);
  const expires_at = new Date(expiresMs).toISOString();
  sendJson(response, 201, { result: { id, url: `${TICKETS_PATH}/${id}`, expires_at } });
}

/** @throws ServiceError when the body asks for nothing that can be downloaded. */
function parseDownload(value: unknown, nowUs: number): Download {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || !('sql' in value || 'source' in value)) {
    const message = 'a download must have sql, as a query, or source, as an explore request';
    throw new ServiceError('invalid_body', message);
  }
  const { format: name, ...rest } = value as Readonly<Record<string, unknown>>;
  const isQuery = 'sql' in rest;
  const formats = ANSWER_FORMATS.filter((format) => isQuery || format.name !== 'json');
  const format = formats.find((known) => known.name === name);
  if (format === undefined) {
    const choices = formatChoices(formats.map((known) => known.name));
    const message = `format must be ${choices}; got ${echoValue(name)}`;
    throw new ServiceError('invalid_parameter', message, { parameter: 'format' });
  }
  if (isQuery) return { format, query: toSentQuery(parseQueryBody(rest), new Map()) };
  const explored = parseExploreRequest(rest, nowUs);
  if (explored.start !== undefined) {
    const message = 'a download has all events that match, and no before or after';
    throw new ServiceError('invalid_body', message);
  }
  return { format, explored };
}

/** Tells what is wrong with a query while a page can show it. @throws ServiceError */
async function checkQuery(
  { sql, parameters }: SentQuery,
  response: Response,
  { tables, callerQueries, turns, grant }: TicketParts & { readonly grant: Grant },
): Promise<void> {
  const query = await workOnSql(
    turns,
    { sql, tenant: toTenant(grant), isGone: () => response.destroyed },
    callerQueries.prepareInPieces(tables.find(grant), sql, parameters),
  );
  readValues(parameters, tables.listParameters(query.bound.views));
}

/** Tells what is wrong with an explore request while a page can show it. @throws ServiceError */
function checkExplored(
  { source, project, where, search }: ExploreRequest,
  { intake }: Pick<TicketParts, 'intake'>,
  grant: Grant,
): void {
  findExplored(source, intake, grant);
  if (project !== undefined) authorizeProject(grant, project);
  if (where !== undefined) checkCondition(where, EXPLORE_WHERE_LENGTH_MAX);
  parseSearch(search);
}

async function useTicket(request: Request, response: Response, parts: TicketParts): Promise<void> {
  const { tickets, tokens } = parts;
  response.setHeader('Cache-Control', 'no-store');
  const id = pathParameter(request);
  const isHead = request.method === 'HEAD';
  // Programs that send HEAD, such as previews of links, must not use the ticket up.
  const ticket = isHead ? tickets.mustFind(id) : tickets.mustTake(id);
  if (!tokens.stillGrants(ticket.grant)) {
    const message = 'the access token of this ticket is revoked or has expired';
    throw new ServiceError('unauthorized', message);
  }
  const { order } = ticket;
  response.setHeader('Content-Disposition', `attachment; filename="${nameFile(order)}"`);
  if (isHead) {
    response.setHeader('Content-Type', order.format.contentType);
    response.end();
    return;
  }
  const run = beginRun(response, parts.runs, { id, grant: ticket.grant, kind: 'download' });
  try {
    await send(request, response, { ...ticket, run }, parts);
  } catch (error) {
    const known = error instanceof QueryError ? fromQueryError(error) : error;
    // What a broken connection causes is not its cause.
    if (!response.destroyed) run.noteFailure(known instanceof ServiceError ? known : INTERNAL);
    // A failure is no file.
    if (!response.headersSent) response.removeHeader('Content-Disposition');
    throw error;
  }
}

async function send(
  request: Request,
  response: Response,
  { run, grant, order }: DownloadTicket<Download> & { readonly run: NamedRun },
  parts: TicketParts,
): Promise<void> {
  const { format } = order;
  if ('query' in order) {
    const receivedMs = parts.clock.monotonicMs();
    const manner = { grant, run, isExplained: false, format, receivedMs };
    await answerCall(request, response, parts, toReadCall(order.query, parts.tables, manner));
    return;
  }
  const source = must(parts.intake.findSource(order.explored.source), 'a source stays');
  await sendEvents(response, { run, grant, format, explored: order.explored, source }, parts);
}

/** Of an error that is ours a caller learns no more. */
const INTERNAL = { code: 'internal', message: 'internal error' } as const;

/** Only characters that need no quoting in a header, and that no file system refuses. */
function nameFile(order: Download): string {
  const name = 'query' in order ? 'query' : order.explored.source.replace(/[^\w.-]/g, '_');
  return `${name}.${order.format.name}`;
}
