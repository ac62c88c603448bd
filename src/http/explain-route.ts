import type { IncomingMessage, ServerResponse } from 'node:http';
import { explanationText, type QueryExplanation } from '../../engine/index.ts';
import type { ParameterSchema, ParameterTexts } from '../definition/parameters.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { acceptWeight } from './media-type.ts';
import { oneText } from './query-string.ts';
import { sendBytes, sendJson, varyBy } from './response.ts';

/**
 * Returns whether the query string has `explain=true`, for the plan instead of the rows, or
 * `columns=true`, for the columns beside them. A parameter of the endpoint with this name wins.
 *
 * @throws ServiceError if the value is neither true nor false.
 */
export function isAsked(
  name: 'explain' | 'columns',
  query: ParameterTexts,
  schema?: ParameterSchema,
): boolean {
  const text = schema?.reads(name) === true ? undefined : oneText(query, name);
  if (text === undefined) return false;
  if (text === 'true' || text === 'false') return text === 'true';
  const message = `${name} must be true or false; got ${echo(text)}`;
  throw new ServiceError('invalid_parameter', message, { parameter: name });
}

/** Sends text, or JSON if the caller prefers it. `name` is the endpoint's. */
export function sendExplanation(
  request: IncomingMessage,
  response: ServerResponse,
  explanation: QueryExplanation,
  name: string,
): void {
  const { accept } = request.headers;
  const weight = acceptWeight(accept, 'application/json');
  response.setHeader('Cache-Control', 'no-store');
  varyBy(response, 'Accept');
  if (weight > 0 && weight >= acceptWeight(accept, 'text/plain')) {
    sendJson(response, 200, { name, ...explanation });
  } else {
    const text = Buffer.from(explanationText(explanation, name));
    sendBytes(response, 200, 'text/plain; charset=utf-8', [text]);
  }
}
