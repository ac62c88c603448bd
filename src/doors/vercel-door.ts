import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import { ServiceError } from '../errors.ts';
import type { Body } from '../http/body.ts';
import { parseQueryString } from '../http/query-string.ts';
import type { GuardedOperation } from '../http/route.ts';
import { LOGGED_ANSWERS } from '../openapi/post-text.ts';
import type { Door } from './door.ts';
import { tellLogged } from './log-route.ts';
import { DOCUMENTS_DOOR } from './logflare-doors.ts';

/** The header in which Vercel expects the code of a drain, to see that its receiver is the owner's. */
const CODE_HEADER = 'x-vercel-verify';

/** What may be repeated in a header. Codes of Vercel are 40 hexadecimal digits. */
const CODE = /^[\w-]{1,128}$/;

/** The header of the signature: the HMAC-SHA1 of the body as it was sent, in hexadecimal digits. */
const SIGNATURE_HEADER = 'x-vercel-signature';

/**
 * A log drain of Vercel (its "Log Drains Reference"): a list of objects, or one a line. Posts must be signed with
 * `secret` if there is one.
 */
export function createVercelDoor(secret: string | undefined): Door<void> {
  return {
    ...DOCUMENTS_DOOR,
    summary: 'Store logs of a drain of Vercel',
    ...(secret !== undefined && {
      checkSent: ({ headers }, body) => checkSignature(headers[SIGNATURE_HEADER], body, secret),
    }),
    tell: (request, response) => {
      repeatCode(request, response);
      tellLogged(response);
    },
  };
}

/** What Vercel requests before it sends. */
export const VERCEL_VERIFICATION: GuardedOperation = {
  summary: 'Answer with the code by which Vercel verifies a drain',
  tag: 'posting',
  parameters: [
    {
      name: CODE_HEADER,
      in: 'query',
      description: 'The code that the answer repeats; the header of this name also gives it',
      schema: { type: 'string' },
    },
  ],
  answers: { 200: LOGGED_ANSWERS[200]! },
  access: { scope: 'any', tokenIn: 'password' },
  handle: (request, response) => {
    repeatCode(request, response);
    tellLogged(response);
  },
};

function checkSignature(
  signature: string | readonly string[] | undefined,
  body: Body,
  secret: string,
): void {
  const hmac = createHmac('sha1', secret);
  for (const piece of body) hmac.update(piece);
  const wanted = hmac.digest();
  const got = Buffer.from(String(signature ?? ''), 'hex');
  if (got.length === wanted.length && timingSafeEqual(got, wanted)) return;
  throw new ServiceError(
    'invalid_signature',
    `${SIGNATURE_HEADER} must be the HMAC-SHA1 of the body with VERCEL_DRAIN_SECRET; ` +
      (signature === undefined ? 'it is missing' : 'it is not'),
  );
}

function repeatCode(request: Request, response: Response): void {
  const [sent] = parseQueryString(request.url).get(CODE_HEADER) ?? [request.headers[CODE_HEADER]];
  if (typeof sent === 'string' && CODE.test(sent)) response.setHeader(CODE_HEADER, sent);
}
