import { toTenant } from '../access/tenant.ts';
import { COUNT, describeObject } from '../openapi/schemas.ts';
import { sendJson } from './response.ts';
import { type Access, pathParameter, type Route } from './route.ts';
import type { RouteOptions } from './routes.ts';

const STATUS = describeObject(
  {
    id: { type: 'string' },
    state: { enum: ['waiting', 'running', 'sending', 'done', 'cancelled', 'failed'] },
    elapsed_ms: COUNT,
    rows_done: COUNT,
    rows_total: COUNT,
    share: { type: 'number', minimum: 0, maximum: 1 },
  },
  { truncated_to: { ...COUNT, description: 'Rows of the answer, if `max_rows` cut it' } },
);

/** A token sees and cancels its own calls, whatever it may call. */
const ACCESS: Access = { scope: 'any', tokenIn: 'headers' };

/** The route of calls under way that their callers have named. */
export function runRoute({ runs }: RouteOptions): Route {
  return {
    path: '/api/query/runs/:id',
    pathParameters: { id: { description: 'The id in the header Weir-Query-Id of the call' } },
    operations: {
      GET: {
        summary: 'Get the progress of a call',
        tag: 'queries',
        answers: {
          200: {
            description:
              'The call is running, or is a download that ended within the last ten minutes',
            content: { 'application/json': { schema: STATUS } },
          },
        },
        failures: ['unknown_run'],
        access: ACCESS,
        handle: (request, response, { grant }) => {
          sendJson(response, 200, runs.describe(pathParameter(request), toTenant(grant)));
        },
      },
      DELETE: {
        summary: 'Cancel a call',
        description:
          'The call ends with `query_cancelled`. If its answer is being sent, weir closes the connection.',
        tag: 'queries',
        answers: { 204: { description: 'It is cancelled' } },
        failures: ['unknown_run'],
        access: ACCESS,
        handle: (request, response, { grant }) => {
          runs.cancel(pathParameter(request), toTenant(grant));
          response.statusCode = 204;
          response.end();
        },
      },
    },
  };
}
