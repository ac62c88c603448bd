import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

/** What a server makes its requests and responses of. */
export type HttpMessages = {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
};

/**
 * Requests and responses that have the prototypes of an app from the start. Express gives its own to
 * those of Node at every request, and V8 then makes new shapes for all that is set on them later: these lie in
 * the old part of the heap and hold what they describe, so nearly half of what a request left survived one
 * collection after another. Here Express finds its prototype there already, and changes nothing.
 */
export function useExpressMessages(app: Express): HttpMessages {
  class AppRequest extends IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.request = AppRequest.prototype as typeof app.request;
  app.response = AppResponse.prototype as typeof app.response;
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}
