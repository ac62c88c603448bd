import type { IncomingMessage } from 'node:http';
import { ADDRESS_KEYS } from '../ingest/known-key.ts';
import { BODY_BYTES_MAX } from '../ingest/limits.ts';
import type { BodyForm } from '../ingest/post-body.ts';
import type { Source } from '../ingest/source.ts';
import { authenticate, authorize } from './authenticate.ts';
import type { BodyReader } from './body.ts';
import type { Clock } from './clock.ts';
import { echo } from './echo.ts';
import { ServiceError } from './errors.ts';
import type { Handler } from './http-route.ts';
import type { LogIntake } from './log-intake.ts';
import { readMediaType } from './media-type.ts';
import type { ParameterTexts } from './parameters.ts';
import { parseQueryString } from './query-string.ts';
import { sendJson } from './response.ts';
import type { Tokens } from './tokens.ts';

const FORMS: ReadonlyMap<string, BodyForm> = new Map([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
]);

const ADDRESS_HEADERS = ['x-source', 'x-collection'] as const;

/**
 * Takes a post of logs. The token, and the source where the URL or a header names it, are checked
 * before the body is read.
 */
export function logHandler(options: {
  readonly intake: LogIntake;
  readonly tokens: Tokens;
  readonly bodies: BodyReader;
  readonly clock: Clock;
}): Handler {
  const { intake, tokens, bodies, clock } = options;
  return async (request, response) => {
    const query = parseQueryString(request.url);
    authorize(authenticate(tokens, request, query), 'ingest');
    const address = findAddress(query, request);
    const source = address === undefined ? undefined : mustFindSource(intake, address);
    const mediaType = readMediaType(request.headers['content-type'], [...FORMS.keys()]);
    const form = FORMS.get(mediaType ?? '') ?? 'json';
    const refusals = await bodies.use(request, response, BODY_BYTES_MAX, async (body) => {
      const logs = await intake.decode(body, form);
      const key = ADDRESS_KEYS.find((name) => (logs.address[name] ?? '') !== '');
      const target = source ?? mustFindSource(intake, key && logs.address[key]);
      return logs.store(target, clock.nowUs());
    });
    if (refusals.length > 0) sendJson(response, 406, { message: refusals });
    else sendJson(response, 200, { message: 'Logged!' });
  };
}

/** What the URL, else a header, says the source is. */
function findAddress(query: ParameterTexts, request: IncomingMessage): string | undefined {
  for (const key of ADDRESS_KEYS) {
    const texts = query.get(key) ?? [];
    if (texts.length > 1) {
      const message = `${key} must be given once; got ${texts.length} of it`;
      throw new ServiceError('repeated_parameter', message, { parameter: key });
    }
    if (texts[0] !== undefined && texts[0] !== '') return texts[0];
  }
  for (const key of ADDRESS_HEADERS) {
    const text = request.headers[key];
    if (typeof text === 'string' && text.trim() !== '') return text.trim();
  }
  return undefined;
}

function mustFindSource(intake: LogIntake, address: string | undefined): Source {
  if (address === undefined) {
    throw new ServiceError(
      'missing_source',
      'the source must be named by source_name or source, in the URL or in the body, or by the header X-Source; got none',
    );
  }
  const source = intake.findSource(address);
  if (source !== undefined) return source;
  throw new ServiceError(
    'unknown_source',
    `there is no source ${echo(address)}; GET /api/sources lists them`,
  );
}
