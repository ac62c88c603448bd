import { createHash } from 'node:crypto';
import { mayCall } from '../access/grant.ts';
import type { Catalogue } from '../definition/catalogue.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import { OPENAPI_DOCUMENTS_MAX } from '../limits.ts';
import { type DocumentOptions, openapiDocument } from '../openapi/document.ts';
import type { OperationText } from '../openapi/operation-text.ts';
import { describeObject } from '../openapi/schemas.ts';
import { namesTag } from './http-caching.ts';
import { sendBytes } from './response.ts';
import type { Bearer, GreetingOperation, Route } from './route.ts';

/** The description of the document's own operation. */
export const DOCUMENT_TEXT: OperationText = {
  summary: 'This document',
  description:
    'Everyone may read the paths. A token that may call or manage definitions also sees their parameters and columns. The document changes with them.',
  tag: 'watching',
  parameters: [
    {
      name: 'If-None-Match',
      in: 'header',
      description: 'The ETag of the caller’s document',
      schema: { type: 'string' },
    },
  ],
  answers: {
    200: {
      description: 'An OpenAPI document',
      content: {
        'application/json': {
          schema: describeObject({ openapi: { const: '3.1.0' }, paths: { type: 'object' } }),
        },
      },
      headers: { ETag: 'Of these bytes' },
    },
    304: { description: 'The caller’s document is current' },
  },
};

/** A serialised document. */
type Written = {
  readonly endpoints: readonly Endpoint[];
  readonly bytes: Buffer;
  readonly etag: string;
};

/**
 * Answers with the OpenAPI document. Definitions may be private, so only a token that may call or manage them sees
 * them. Others see the paths that every service of this version has.
 */
export function openapiHandler(options: {
  readonly routes: () => readonly Route[];
  readonly catalogue: Catalogue;
  readonly document: DocumentOptions;
}): GreetingOperation['handle'] {
  const { routes, catalogue, document } = options;
  const known: Written[] = [];
  const write = (endpoints: readonly Endpoint[]): Written => {
    const found = known.find((one) => isSame(one.endpoints, endpoints));
    if (found !== undefined) return found;
    const bytes = Buffer.from(JSON.stringify(openapiDocument(routes(), endpoints, document)));
    const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
    const written = { endpoints, bytes, etag };
    if (known.push(written) > OPENAPI_DOCUMENTS_MAX) known.shift();
    return written;
  };
  return (request, response, bearer) => {
    const { bytes, etag } = write(visibleTo(bearer, catalogue));
    response.setHeader('Cache-Control', 'private, no-cache');
    response.setHeader('ETag', etag);
    if (namesTag(request.headers['if-none-match'], etag)) {
      response.statusCode = 304;
      response.end();
      return;
    }
    sendBytes(response, 200, 'application/json; charset=utf-8', [bytes]);
  };
}

function visibleTo(bearer: Bearer | undefined, catalogue: Catalogue): readonly Endpoint[] {
  if (bearer === undefined) return [];
  const { grant } = bearer;
  const isReader = grant.scopes.includes('query') || grant.scopes.includes('manage');
  return isReader ? catalogue.list().filter(({ definition }) => mayCall(grant, definition)) : [];
}

/** Whether both lists have the same endpoints. A changed definition is another endpoint. */
function isSame(left: readonly Endpoint[], right: readonly Endpoint[]): boolean {
  return left.length === right.length && left.every((endpoint, index) => endpoint === right[index]);
}
