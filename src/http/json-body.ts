import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '../errors.ts';
import { JSON_DEPTH_MAX } from '../limits.ts';
import type { BodyReader, BodyTerms } from './body.ts';
import { readMediaType } from './media-type.ts';

/** Reads a body that must be JSON, of whatever kind. @throws ServiceError when it is not. */
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

/** @throws ServiceError for bytes that are not UTF-8. */
export function textOfBody(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ServiceError('invalid_body', 'the body must be UTF-8; got other bytes', { cause });
  }
}

/**
 * The members of the JSON object that a body is; an empty body has none. Any name is as good as another, and of
 * equal ones the last counts.
 *
 * @throws ServiceError for a text that is something else.
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
 * The value of a JSON text. How deep it is nested is looked at first: a megabyte of brackets would hold the
 * thread for tenths of a second. Logs are not read here but by their own decoder, to any depth.
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
/** `[` and `{`, and `]` and `}`, are the same but for this bit. */
const BRACE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Counts the brackets outside of strings, of JSON or of whatever it is. */
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
