import type { Request } from 'express';
import { sendJson } from '../http/response.ts';
import type { GuardedOperation, Route } from '../http/route.ts';
import { AnswerFilter, FILTER_PATH_TEXT } from './answer-filter.ts';
import { ELASTICSEARCH_CALLS, type ElasticsearchCall } from './elasticsearch-calls.ts';
import { ELASTICSEARCH_HEADERS } from './elasticsearch-door.ts';

/**
 * Base paths for clients of Elasticsearch: one to configure, and the root. In this order, or the
 * first would be taken for an index.
 */
export const ELASTICSEARCH_BASES = ['/elasticsearch', ''] as const;

/**
 * The requests of clients of Elasticsearch that store nothing. They come after all other routes: any path of one part
 * may be an index.
 */
export function elasticsearchCallRoutes(): readonly Route[] {
  return ELASTICSEARCH_BASES.flatMap((base) => [
    ...ELASTICSEARCH_CALLS.map((call) => callRoute(base, call)),
    indexRoute(base),
  ]);
}

function callRoute(base: string, { path, summary, read, written }: ElasticsearchCall): Route {
  const answering = (answer: ElasticsearchCall['read']): GuardedOperation => ({
    ...{ summary, tag: 'posting' },
    parameters: [FILTER_PATH_TEXT],
    failures: ['repeated_parameter', 'invalid_parameter'],
    answers: {
      200: {
        description: 'All members, or those that filter_path leaves',
        content: {
          'application/json': {
            schema: { type: ['object', 'array'] },
            example: answer({ name: 'app.logs', address: '127.0.0.1:4000' }),
          },
        },
      },
    },
    access: { scope: 'any', tokenIn: 'password' },
    handle: (request, response, { query }) => {
      const filter = AnswerFilter.parse(query);
      const asked = { name: lastParameter(request), address: readAddress(request) };
      sendJson(response, 200, filter.keepAnswer(answer(asked)));
    },
  });
  return {
    path: `${base}${path}`,
    pathParameters: { name: { description: 'Any' }, group: { description: 'Any' } },
    operations: {
      GET: answering(read),
      ...Object.fromEntries(
        Object.entries(written ?? {}).map(([method, answer]) => [method, answering(() => answer)]),
      ),
    },
    headers: ELASTICSEARCH_HEADERS,
  };
}

/** Logstash (its ILM manager) creates an index unless HEAD finds it, and fails if it cannot. */
function indexRoute(base: string): Route {
  const exists: GuardedOperation = {
    summary: 'Say that an index exists; documents for any index are stored',
    tag: 'posting',
    answers: { 200: { description: 'It does' } },
    access: { scope: 'any', tokenIn: 'password' },
    handle: (_request, response) => void response.end(),
  };
  return {
    path: `${base}/:index`,
    pathParameters: {
      index: { description: 'Any', schema: { type: 'string', pattern: INDEX.source } },
    },
    takes: (request, method) => method === 'HEAD' && isIndex(request.params['index']),
    operations: { HEAD: exists },
    headers: ELASTICSEARCH_HEADERS,
  };
}

/** Names of indices do not begin with an underscore; the paths of Elasticsearch's APIs do. */
const INDEX = /^[^_]/;

function isIndex(text: unknown): boolean {
  return typeof text === 'string' && INDEX.test(text);
}

function lastParameter({ params }: Request): string {
  return String(Object.values(params).at(-1) ?? '');
}

/**
 * The address at which the client has reached the service, with a port. Clients that look for nodes ("sniffing")
 * connect to it from then on.
 */
function readAddress({ headers }: Request): string {
  const host = headers.host ?? '';
  if (/:\d+$/.test(host)) return host;
  return `${host}:${headers['x-forwarded-proto'] === 'https' ? 443 : 80}`;
}
