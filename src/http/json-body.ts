import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '../errors.ts';
import { JSON_DEPTH_MAX } from '../limits.ts';
import type { BodyReader, BodyTerms } from './body.ts';
import { readMediaType } from './media-type.ts';

/** Reads a body that must be JSON of any type. @throws ServiceError if it is not. */
export async function readJsonBody(
  request: IncomingMessage,
  response: ServerResponse,
  { bodies, terms }: { readonly bodies: BodyReader; readonly terms: BodyTerms },
): Promise<unknown> {
  readMediaType(request.headers['content-type'], ['application/json']);
  return bodies.use(request, response, terms, async (pieces) =>
    parseJson(textOfBody(Buffer.concat(pieces))),
  );
}

/** @throws ServiceError if the bytes are not UTF-8. */
export function textOfBody(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ServiceError('invalid_body', 'the body must be UTF-8; got other bytes', { cause });
  }
}

/**
 * The members of a JSON object; an empty body has none. Any name is allowed, and of equal names the last counts.
 *
 * @throws ServiceError if the text is not a JSON object.
 */
export function parseJsonObject(text: string): readonly (readonly [string, unknown])[] {
  if (text.trim() === '') return [];
  const value = parseJson(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value);
  }
  throw new ServiceError('invalid_body', 'the body must be a JSON object of parameters');
}

/**
 * Parses a JSON text. Its nesting depth is checked before: a megabyte of brackets would block the thread. Logs are not
 * parsed here; their own decoder accepts any depth.
 */
export function parseJson(text: string): unknown {
  checkDepth(text);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError('invalid_body', `the body must be JSON; ${reason}`, { cause });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** The bit in which `[` and `{`, and `]` and `}`, differ. */
const BRACE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Counts the brackets outside of strings, whether the text is JSON or not. */
function checkDepth(text: string): void {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) isInString = !isInString;
    else if (isInString) index += unit === BACKSLASH ? 1 : 0;
    else if ((unit | BRACE_BIT) === CLOSING) depth--;
    else if ((unit | BRACE_BIT) === OPENING && ++depth > JSON_DEPTH_MAX) {
      throw new ServiceError(
        'invalid_body',
        `a JSON body here may be nested ${JSON_DEPTH_MAX} levels deep; got more at character ${index + 1}`,
      );
    }
  }
}
