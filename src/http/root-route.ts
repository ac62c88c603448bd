import type { PageFiles } from '../console/page-files.ts';
import { AnswerFilter, FILTER_PATH_TEXT } from '../doors/answer-filter.ts';
import { ELASTICSEARCH_HEADERS, ELASTICSEARCH_INFO } from '../doors/elasticsearch-door.ts';
import { sendPage, wantsPage } from './console-route.ts';
import { parseQueryString } from './query-string.ts';
import { sendJson, varyBy } from './response.ts';
import type { OpenOperation, Route } from './route.ts';

/** Paths at which people, and clients of Elasticsearch, ask what the service is. */
const ROOT_PATHS = ['/', '/elasticsearch'] as const;

/**
 * Describes the service and its paths. It is public, because it depends only on the version.
 * Clients of Elasticsearch read `version`, which is that of a compatible Elasticsearch. A browser gets the console.
 */
export function rootRoutes(version: string, files: PageFiles | undefined): readonly Route[] {
  const value = {
    ...{ name: 'weir', weir_version: version },
    description: 'weir stores logs and answers saved SQL queries about them over HTTP',
    links: { api: '/api/openapi.json', health: '/health', ready: '/ready' },
    documentation: 'README.md and docs/getting-started.md of weir',
    ...ELASTICSEARCH_INFO,
  };
  const operation: OpenOperation = {
    summary: 'Describe the service and list its paths',
    description:
      'Clients of Elasticsearch request it before they send; `version` is meant for them.',
    tag: 'watching',
    parameters: [FILTER_PATH_TEXT],
    answers: {
      200: {
        description: 'The same answer for everyone: all members, or those that filter_path leaves',
        content: { 'application/json': { schema: { type: 'object' }, example: value } },
      },
    },
    failures: ['repeated_parameter', 'invalid_parameter'],
    access: 'open',
    handle: (request, response) => {
      const filter = AnswerFilter.parse(parseQueryString(request.url));
      response.setHeader('Cache-Control', 'no-store');
      sendJson(response, 200, filter.keepAnswer(value));
    },
  };
  const pageOperation = withPage(operation, files);
  return ROOT_PATHS.map((path) => ({
    path,
    operations: { GET: path === '/' ? pageOperation : operation },
    headers: ELASTICSEARCH_HEADERS,
    isAlwaysServed: true,
  }));
}

/** Adds the page, for whoever asks for HTML, to the links of the service. */
function withPage(operation: OpenOperation, files: PageFiles | undefined): OpenOperation {
  const { 200: told } = operation.answers;
  const page = { schema: { type: 'string' } };
  const content = { ...told!.content, 'text/html': page, 'text/plain': page };
  return {
    ...operation,
    description: `${operation.description} A browser gets the page of the console.`,
    answers: { 200: { ...told!, content } },
    handle: (request, response) => {
      varyBy(response, 'Accept');
      if (wantsPage(request)) sendPage(response, files);
      else return operation.handle(request, response);
    },
  };
}
