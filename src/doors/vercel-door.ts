import type { Request, Response } from 'express';
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

/** A log drain of Vercel (its "Log Drains Reference"): a list of objects, or one a line. */
export const VERCEL_DOOR: Door<void> = {
  ...DOCUMENTS_DOOR,
  summary: 'Store logs of a drain of Vercel',
  tell: (request, response) => {
    repeatCode(request, response);
    tellLogged(response);
  },
};

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

function repeatCode(request: Request, response: Response): void {
  const [sent] = parseQueryString(request.url).get(CODE_HEADER) ?? [request.headers[CODE_HEADER]];
  if (typeof sent === 'string' && CODE.test(sent)) response.setHeader(CODE_HEADER, sent);
}
