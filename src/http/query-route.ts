import type { Request, Response } from 'express';
import { must } from '../../engine/columns.ts';
import { authorizePlan, toReach } from '../access/grant.ts';
import { ANSWER_FORMATS, type AnswerFormat, JSON_FORMAT } from '../call/answer-format.ts';
import type { ExploredTables } from '../call/explored-tables.ts';
import { readValues } from '../call/sent-parameters.ts';
import { QUERY_TEXT } from '../openapi/query-text.ts';
import { isAsked } from './explain-route.ts';
import { answerCall, chooseFormat, type ReadCall } from './read-call.ts';
import type { Bearer, GuardedOperation, Route } from './route.ts';
import type { RouteOptions } from './routes.ts';
import { readSentQuery, type SentQuery } from './sent-query.ts';

/** Routes that run SQL which is no definition's. */
export function queryRoutes(options: RouteOptions): readonly Route[] {
  const formats = [undefined, ...ANSWER_FORMATS];
  return formats.map((pathFormat) => ({
    path: pathFormat === undefined ? '/api/query' : `/api/query.${pathFormat.name}`,
    operations: {
      POST: {
        ...QUERY_TEXT,
        access: { scope: 'explore', tokenIn: 'headers' },
        handle: queryHandler({ ...options, pathFormat }),
      },
    },
  }));
}

/** Runs the query of a request. */
function queryHandler(
  options: RouteOptions & { readonly pathFormat: AnswerFormat | undefined },
): GuardedOperation['handle'] {
  const { callBodies: bodies, clock, tables, pathFormat } = options;
  return async (request, response, bearer) => {
    const { grant } = bearer;
    const { isExplained, format } = readManner(request, response, bearer, pathFormat);
    const sent = await readSentQuery(request, response, bodies, bearer);
    const receivedMs = clock.monotonicMs();
    const manner = { grant, isExplained, format, receivedMs };
    await answerCall(request, response, options, toReadCall(sent, tables, manner));
  };
}

/** The call of a query over all tables in reach of its token. */
export function toReadCall(
  { sql, parameters, rowsMax }: SentQuery,
  tables: ExploredTables,
  manner: Pick<ReadCall, 'grant' | 'run' | 'isExplained' | 'format' | 'receivedMs'>,
): ReadCall {
  const { grant } = manner;
  return {
    ...manner,
    name: 'query',
    text: { sql, tables: tables.find(grant), declared: parameters },
    create: (bound) => {
      const query = must(bound, 'the text of the call is bound');
      const values = readValues(parameters, tables.listParameters(query.bound.views));
      return { query, isSent: true, rowsMax, parameters: values, reach: toReach(grant) };
    },
  };
}

/** What the query string and the headers ask for. @throws ServiceError */
function readManner(
  request: Request,
  response: Response,
  { grant, query }: Bearer,
  pathFormat: AnswerFormat | undefined,
): Pick<ReadCall, 'isExplained' | 'format'> {
  const isExplained = isAsked('explain', query);
  if (isExplained) authorizePlan(grant);
  const hasColumns = isAsked('columns', query);
  if (isExplained) return { isExplained, format: JSON_FORMAT };
  return { isExplained, format: chooseFormat(request, response, { pathFormat, hasColumns }) };
}
