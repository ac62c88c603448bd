import type { Request, Response } from 'express';
import type { TokenPlaces } from '../access/authenticate.ts';
import type { Grant, Scope } from '../access/grant.ts';
import type { ParameterTexts } from '../definition/parameters.ts';
import type { Outcome } from '../metrics/metrics.ts';
import type { FailureSchemas, OperationText, Schema } from '../openapi/operation-text.ts';
import type { TellFailure } from './failure.ts';

/** Methods of routes. A route with GET also has HEAD; all have OPTIONS. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof METHODS)[number];

/** The required token: one with this scope, or any, in one of these places. */
export type Access = { readonly scope: Scope | 'any'; readonly tokenIn: TokenPlaces };

/** The caller's grant and the parsed query string. */
export type Bearer = { readonly grant: Grant; readonly query: ParameterTexts };

type Answering<Args extends readonly unknown[]> = (
  request: Request,
  response: Response,
  ...args: Args
) => Promise<void> | void;

/** An operation without authentication. */
export type OpenOperation = OperationText & {
  readonly access: 'open';
  readonly handle: Answering<[]>;
};

/**
 * An operation without required authentication, whose answer depends on a token if a header has
 * one. A wrong token is refused.
 */
export type GreetingOperation = OperationText & {
  readonly access: 'optional';
  readonly handle: Answering<[Bearer | undefined]>;
};

/**
 * An operation that requires a token. Requests without one are refused before anything else is
 * read.
 */
export type GuardedOperation = OperationText & {
  readonly access: Access;
  readonly handle: Answering<[Bearer]>;
};

export type Operation = OpenOperation | GreetingOperation | GuardedOperation;

/** How a request ended, and whose it was. */
export type EndedRequest = Outcome & {
  /** Absent if the token was refused. */
  readonly grant?: Grant | undefined;
  /** The message of the error; absent on success. */
  readonly message?: string | undefined;
};

/** A named part of a path: any text, or what the schema allows. */
type PathParameterText = { readonly description: string; readonly schema?: Schema };

/**
 * One path of the service, with its operations by method. The server, the access checks and the API
 * document all follow from this list.
 */
export type Route = {
  /** The path in Express's syntax; `:name` is one part of the path. */
  readonly path: string;
  readonly pathParameters?: Readonly<Record<string, PathParameterText>> | undefined;
  readonly operations: Readonly<Partial<Record<Method, Operation>>>;
  /**
   * Which requests of a method it handles, if two routes share a path. The first that takes a
   * request handles it.
   */
  readonly takes?: (request: Request, method: string) => boolean;
  /** The format of failures; by default the profile's. */
  readonly tellFailure?: TellFailure | undefined;
  /** The schemas of failures in a format that is not the profile's. */
  readonly failureSchemas?: FailureSchemas | undefined;
  /** The status of an answer to OPTIONS, for senders that require another one; 204 by default. */
  readonly optionsStatus?: 200 | undefined;
  /** Headers of every answer, including failures. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when a request was answered. */
  readonly ended?: ((request: Request, ended: EndedRequest) => void) | undefined;
  /**
   * Whether the path's parameter names an endpoint to call. The API document describes each
   * endpoint at its own name.
   */
  readonly isTemplateOfCalls?: boolean;
  /** Whether it answers while the service starts and stops. */
  readonly isAlwaysServed?: boolean;
};

/** The path's one `:parameter`, decoded. */
export function pathParameter(request: Request): string {
  const [text] = Object.values(request.params);
  return typeof text === 'string' ? text : '';
}
