import type { Request, Response } from 'express';
import type { PageFile, PageFiles } from '../console/page-files.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import type { OperationText } from '../openapi/operation-text.ts';
import { preferredEncoding } from './http-caching.ts';
import { acceptedWeight, readAccept } from './media-type.ts';
import { sendBytes, varyBy } from './response.ts';
import { type OpenOperation, pathParameter, type Route } from './route.ts';

/** Nothing but files of this service runs, and nothing of the page leaves it. */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Referrer-Policy': 'no-referrer',
};

/** A year: the longest time that caches keep (RFC 9111 leaves it open; browsers take this). */
const HASHED_CACHE_CONTROL = 'public, max-age=31536000, immutable';

const NOT_BUILT =
  'The console of this weir is not built; run "npm run build". The API is described at /api/openapi.json.\n';

/** Whether the caller is a browser that opens a page: it wants HTML rather than JSON. */
export function wantsPage({ headers: { accept } }: Request): boolean {
  const ranges = readAccept(accept);
  const html = ranges.find(({ name }) => name === 'text/html')?.weight ?? 0;
  return html > 0 && html > (acceptedWeight(ranges, 'application/json') ?? 0);
}

/** Sends the page, which names its files by their hashes: it is asked for anew each time. */
export function sendPage(response: Response, files: PageFiles | undefined): void {
  for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'no-cache');
  if (files === undefined) {
    sendBytes(response, 200, 'text/plain; charset=utf-8', [Buffer.from(NOT_BUILT)]);
  } else sendBytes(response, 200, 'text/html; charset=utf-8', [files.index]);
}

const FILE_TEXT: OperationText = {
  summary: 'A file of the console',
  tag: 'watching',
  answers: {
    200: {
      description: 'The file, which never changes',
      content: {
        'text/javascript': { schema: { type: 'string' } },
        'text/css': { schema: { type: 'string' } },
      },
    },
  },
  failures: ['unknown_route'],
};

/** Serves the files that the page loads. */
export function consoleRoute(files: PageFiles | undefined): Route {
  const operation: OpenOperation = {
    ...FILE_TEXT,
    access: 'open',
    handle: (request, response) => {
      const name = pathParameter(request);
      const file = files?.hashed.get(name);
      if (file === undefined) {
        throw new ServiceError('unknown_route', `there is nothing at ${echo(request.path)}`);
      }
      sendFile(request, response, file);
    },
  };
  return {
    path: '/console/:file',
    pathParameters: { file: { description: 'A name that the page has' } },
    operations: { GET: operation },
    headers: PAGE_HEADERS,
    isAlwaysServed: true,
  };
}

function sendFile(request: Request, response: Response, { contentType, bytes }: PageFile): void {
  varyBy(response, 'Accept-Encoding');
  response.setHeader('Cache-Control', HASHED_CACHE_CONTROL);
  const wanted = preferredEncoding(String(request.headers['accept-encoding'] ?? ''));
  const encoding = bytes.has(wanted) ? wanted : 'identity';
  if (encoding !== 'identity') response.setHeader('Content-Encoding', encoding);
  sendBytes(response, 200, contentType, [bytes.get(encoding)!]);
}
