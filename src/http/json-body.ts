import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '../errors.ts';
import type { BodyReader, BodyTerms } from './body.ts';
import { readMediaType } from './media-type.ts';

/** Reads a body that must be JSON, of whatever kind. @throws ServiceError when it is not. */
export async function readJsonBody(
  request: IncomingMessage,
  response: ServerResponse,
  { bodies, terms }: { readonly bodies: BodyReader; readonly terms: BodyTerms },
): Promise<unknown> {
  readMediaType(request.headers['content-type'], ['application/json']);
  return bodies.use(request, response, terms, async (pieces) => parseJson(Buffer.concat(pieces)));
}

function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ServiceError('invalid_body', 'the body must be UTF-8; got other bytes', { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError('invalid_body', `the body must be JSON; ${reason}`, { cause });
  }
}
