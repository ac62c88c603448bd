import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

/** The classes of a server's requests and responses. */
export type HttpMessages = {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
};

/**
 * Makes requests and responses with the prototypes of an app. Express replaces the prototypes of Node's objects at
 * every request, after which V8 creates new hidden classes for the properties set later. These live in the old
 * generation and retain what they describe, so much of a request's garbage survives several collections. With the right
 * prototypes, Express changes nothing.
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
