import type { Field } from '../../engine/columns.ts';
import { authorizeProject, toReach } from '../access/grant.ts';
import { toTenant } from '../access/tenant.ts';
import { ServiceError } from '../errors.ts';
import { formatPath } from '../explore/field-path.ts';
import { parseWindow } from '../explore/time-window.ts';
import { FIELDS_TEXT } from '../openapi/explore-text.ts';
import { findExplored } from './explore-route.ts';
import { oneText } from './query-string.ts';
import { goneSignal } from './read-call.ts';
import { sendJson } from './response.ts';
import { type GuardedOperation, pathParameter, type Route } from './route.ts';
import type { RouteOptions } from './routes.ts';

export function fieldsRoute(options: RouteOptions): Route {
  const operation: GuardedOperation = {
    ...FIELDS_TEXT,
    access: { scope: 'explore', tokenIn: 'headers' },
    handle: fieldsHandler(options),
  };
  const pathParameters = { idOrName: { description: 'Name or UUID of a source' } };
  const path = '/api/sources/:idOrName/fields';
  return { path, pathParameters, operations: { GET: operation } };
}

/** Tells the fields of a source: the path's parameter is its name or id. */
function fieldsHandler({
  engine,
  intake,
  clock,
}: Pick<RouteOptions, 'engine' | 'intake' | 'clock'>): GuardedOperation['handle'] {
  return async (request, response, { grant, query }) => {
    const source = findExplored(pathParameter(request), intake, grant);
    const project = oneText(query, 'project');
    if (project === '') {
      const message = 'project must be a project; got ""';
      throw new ServiceError('invalid_parameter', message, { parameter: 'project' });
    }
    if (project !== undefined) authorizeProject(grant, project);
    const bounds = { from: oneText(query, 'from'), to: oneText(query, 'to') };
    const { fromUs, toUs } = parseWindow(bounds, clock.nowUs());
    const order = { source: source.name, projectKey: project, withValues: true };
    const window = { startUs: fromUs, endUs: toUs };
    const who = { reach: toReach(grant), tenant: toTenant(grant) };
    const found = await engine.countFields({ ...order, window, ...who }, goneSignal(response));
    sendJson(response, 200, {
      source: source.name,
      from: new Date(fromUs / 1000).toISOString(),
      to: new Date(toUs / 1000).toISOString(),
      events: found.eventCount,
      fields: found.fields.map(describeField),
      is_cut: found.isCut,
      ...(found.sampledCount === undefined ? {} : { sampled_events: found.sampledCount }),
    });
  };
}

function describeField({ path, kinds, eventCount, values }: Field) {
  return {
    path: formatPath(path),
    keys: path,
    kinds,
    events: eventCount,
    distinct: values?.distinctCount ?? 0,
    distinct_is_exact: values?.isDistinctExact ?? false,
    top: (values?.top ?? []).map(({ value, count }) => ({
      // As in rows: beyond 2^53 a number would lose digits.
      value: typeof value === 'bigint' ? String(value) : value,
      count,
    })),
    top_is_exact: values?.isTopExact ?? false,
  };
}
