import { must } from '../../engine/columns.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import type { Route } from '../http/route.ts';
import { ResponseComponents } from './answers.ts';
import { describeCall } from './definition-call.ts';
import type { FailureForm } from './failures.ts';
import { TAGS } from './operation-text.ts';
import { formatTemplate, pathItem } from './path-item.ts';
import { SCHEMAS } from './schemas.ts';
import { SECURITY_SCHEMES } from './security.ts';

export type DocumentOptions = {
  readonly version: string;
  /** The format of failures of routes without a format of their own. */
  readonly failureForm: FailureForm;
};

const DESCRIPTION = `Stores the logs of many hosted projects and answers saved SQL queries over HTTP. Every path allows OPTIONS, and HEAD if it allows GET. Other methods are answered with 405. A token that may call or manage saved queries sees them here, each at the path of its name.`;

/**
 * The OpenAPI document of a service with these routes and these callable endpoints. The caller decides which endpoints
 * a reader may see.
 */
export function openapiDocument(
  routes: readonly Route[],
  endpoints: readonly Endpoint[],
  { version, failureForm }: DocumentOptions,
): object {
  const parts = { responses: new ResponseComponents(), failureForm };
  const byPath = new Map<string, Route[]>();
  for (const route of [...endpoints.flatMap((one) => endpointRoutes(one, routes)), ...routes]) {
    const path = formatTemplate(route.path);
    byPath.set(path, [...(byPath.get(path) ?? []), route]);
  }
  const paths = Array.from(byPath, ([path, group]) => [path, pathItem(path, group, parts)]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'weir',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    components: {
      schemas: SCHEMAS,
      responses: parts.responses.toObject(),
      headers: {
        'X-Request-Id': {
          description: 'The request’s own id, or a new one; it is also in the log',
          schema: { type: 'string' },
        },
      },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

/** The routes that call endpoints, described for this one. */
function endpointRoutes(endpoint: Endpoint, routes: readonly Route[]): readonly Route[] {
  return routes
    .filter((route) => route.isTemplateOfCalls === true)
    .map((route) => {
      const operations = Object.entries(route.operations).map(([method, operation]) => [
        method,
        describeCall(endpoint, method, must(operation, 'a method that is there has an operation')),
      ]);
      const path = route.path.replace(/:\w+/, endpoint.definition.name);
      return { ...route, path, operations: Object.fromEntries(operations) };
    });
}
