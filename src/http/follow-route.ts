import type { Request } from 'express';
import type { Source } from '../../ingest/source.ts';
import {
  authorize,
  authorizeEvents,
  authorizeProject,
  type Grant,
  toReach,
} from '../access/grant.ts';
import { toTenant } from '../access/tenant.ts';
import { parseIsoTimestampUs } from '../definition/iso-timestamp.ts';
import type { ParameterTexts } from '../definition/parameters.ts';
import { unknownSource } from '../doors/post-address.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { parseExploreRequest } from '../explore/explore-request.ts';
import { formatList } from '../explore/explore-sql.ts';
import { findWalkedEvents } from '../explore/explorer.ts';
import { SEARCH_LENGTH_MAX } from '../explore/search.ts';
import type { Followers, FollowStart } from '../follow/followers.ts';
import { FOLLOWED_LAST_MAX } from '../limits.ts';
import type { OperationText } from '../openapi/operation-text.ts';
import { AnswerWriter } from './answer-writer.ts';
import { createTools, findExplored } from './explore-route.ts';
import { oneText } from './query-string.ts';
import { goneSignal } from './read-call.ts';
import { type GuardedOperation, pathParameter } from './route.ts';
import type { RouteOptions } from './routes.ts';

const WHOLE_NUMBER = { type: 'integer', minimum: 0 };

/** The description of following. */
export const FOLLOW_TEXT: OperationText = {
  summary: 'Follow a source',
  description:
    'Sends new events as Server-Sent Events: each once, when it is stored and queries see it, with an id. A client that reconnects with this id as `Last-Event-ID` continues after it.',
  tag: 'sources',
  parameters: [
    {
      name: 'project',
      in: 'query',
      description: 'Only events of this project, by the rule of the source',
      schema: { type: 'string', minLength: 1 },
    },
    {
      name: 'search',
      in: 'query',
      description:
        'Only events that match this search, which has the syntax of `POST /api/explore`; needs the scope `explore`',
      schema: { type: 'string', maxLength: SEARCH_LENGTH_MAX },
    },
    {
      name: 'last',
      in: 'query',
      description: 'Start with this many last events',
      schema: { ...WHOLE_NUMBER, maximum: FOLLOWED_LAST_MAX },
    },
    {
      name: 'since',
      in: 'query',
      description: 'Only events with this timestamp or a later one',
      schema: { type: 'string', format: 'date-time' },
    },
    {
      name: 'after',
      in: 'query',
      description:
        'Start after the event with this id; 0 is before the first event. Overrides `last`',
      schema: { type: 'string' },
    },
    {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'Like `after`, which it overrides',
      schema: { type: 'string' },
    },
  ],
  answers: {
    200: {
      description: 'The stream',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    },
  },
  failures: [
    'invalid_parameter',
    'repeated_parameter',
    'out_of_reach',
    'unknown_source',
    'query_failed',
    'query_limit',
    'answer_too_large',
    'overloaded',
    'worker_lost',
    'storage_failed',
    'store_unavailable',
    'query_timeout',
  ],
};

/** Follows a source. The path's parameter is its name or id. */
export function followHandler(options: RouteOptions): GuardedOperation['handle'] {
  const { intake, followers, tokens, turns } = options;
  return async (request, response, { grant, query }) => {
    const name = pathParameter(request);
    const source = intake.findSource(name);
    authorizeEvents(grant, name, source);
    if (source === undefined) throw unknownSource(name, intake, grant);
    const project = oneText(query, 'project');
    if (project === '') throw invalid('project', 'a project', project);
    if (project !== undefined) authorizeProject(grant, project);
    const sinceUs = parseSinceUs(query);
    const start = await parseStart(request, query, { source, grant, sinceUs, followers });
    const search = oneText(query, 'search') ?? '';
    const signal = goneSignal(response);
    const conditions = await findConditions(search, source, { ...options, grant, signal });
    if (request.method === 'HEAD') {
      response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
      response.end();
      return;
    }
    // The reach limits the events, wherever the follower starts.
    const mayGoOn = (): boolean => tokens.stillGrants(grant);
    const reach = toReach(grant);
    const which = { source, project, sinceUs, conditions };
    const tenant = toTenant(grant);
    const events = { ...which, reach, tenant, mayGoOn };
    const writer = new AnswerWriter(response, { turns, tenant });
    await followers.follow(response, events, start, (bytes, ending) => writer.write(bytes, ending));
  };
}

/** Whose fields a search may name: a stream begins before there are any of the events that it is for. */
const KNOWN_FROM = '-7d';

/** The conditions of a search, which are one query for as long as the stream lasts. @throws ServiceError */
async function findConditions(
  search: string,
  { name }: Source,
  parts: Omit<Parameters<typeof createTools>[0], 'hold'> & Pick<RouteOptions, 'intake'>,
): Promise<readonly string[]> {
  if (search.trim() === '') return [];
  const { grant, intake, clock } = parts;
  authorize(grant, 'explore');
  const request = parseExploreRequest({ source: name, search, from: KNOWN_FROM }, clock.nowUs());
  const tools = createTools({ ...parts, hold: () => {} });
  const events = await findWalkedEvents(request, findExplored(name, intake, grant), tools);
  await tools.check(formatList(events, request.window, { start: undefined, limit: 1 }));
  return events.conditions;
}

/**
 * `Last-Event-ID` comes first, because a browser reconnects to its original URL with it. Then come
 * `after` and `last`. With a time, following starts at the first event kept since then; without
 * anything, at the next event.
 */
async function parseStart(
  request: Request,
  query: ParameterTexts,
  parts: {
    readonly source: Source;
    readonly grant: Grant;
    readonly sinceUs: number | undefined;
    readonly followers: Followers;
  },
): Promise<FollowStart> {
  const last = oneText(query, 'last');
  const after = oneText(query, 'after');
  const count = last === undefined ? undefined : parseCount(last);
  const header = request.headers['last-event-id'];
  if (typeof header === 'string' && header !== '')
    return startAfter('Last-Event-ID', header, parts);
  if (after !== undefined) return startAfter('after', after, parts);
  if (count !== undefined) return { kind: 'last', count };
  return { kind: parts.sinceUs === undefined ? 'now' : 'first' };
}

/**
 * A plain number as an id: 0 is before the first event, others date from before ids were encrypted.
 */
const PLAIN_ID = /^\d{1,16}$/;

/**
 * Starts after the event with this id. A token that is bound to projects may use only encrypted
 * ids: from numbers it could learn how many events others have. Other ids are unknown to it.
 */
async function startAfter(
  parameter: string,
  id: string,
  parts: { readonly source: Source; readonly grant: Grant; readonly followers: Followers },
): Promise<FollowStart> {
  const { source, grant, followers } = parts;
  if (id === '0') return { kind: 'first' };
  const isPlain = PLAIN_ID.test(id) && Number.isSafeInteger(Number(id));
  if (isPlain && grant.projects !== 'all') return { kind: 'after', number: undefined, id };
  const number = isPlain ? Number(id) : await followers.findNumber(source, id);
  if (number !== undefined) return { kind: 'after', number, id };
  throw invalid(parameter, `the id of an event of ${source.name} from this instance`, id);
}

function parseCount(text: string): number {
  const count = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= FOLLOWED_LAST_MAX) return count;
  throw invalid('last', `a whole number from 0 to ${FOLLOWED_LAST_MAX}`, text);
}

function parseSinceUs(query: ParameterTexts): number | undefined {
  const text = oneText(query, 'since');
  if (text === undefined) return undefined;
  const timestampUs = parseIsoTimestampUs(text);
  if (timestampUs === undefined) throw invalid('since', 'an ISO 8601 time', text);
  return Number(timestampUs);
}

function invalid(name: string, wanted: string, got: string): ServiceError {
  const message = `${name} must be ${wanted}; got ${echo(got)}`;
  return new ServiceError('invalid_parameter', message, { parameter: name });
}
