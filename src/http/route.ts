import type { Request, Response } from 'express';
import type { TokenPlaces } from '../access/authenticate.ts';
import type { Grant, Scope } from '../access/grant.ts';
import type { ParameterTexts } from '../definition/parameters.ts';
import type { Outcome } from '../metrics/metrics.ts';
import type { FailureSchemas, OperationText, Schema } from '../openapi/operation-text.ts';
import type { TellFailure } from './failure.ts';

/** What a path may do; HEAD and OPTIONS come by themselves. */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof METHODS)[number];

/** What a request must bring: a token with this scope, or with any, in one of these places. */
export type Access = { readonly scope: Scope | 'any'; readonly tokenIn: TokenPlaces };

/** Who asks, and what the query string says. */
export type Bearer = { readonly grant: Grant; readonly query: ParameterTexts };

type Answering<Args extends readonly unknown[]> = (
  request: Request,
  response: Response,
  ...args: Args
) => Promise<void> | void;

/** Answers everyone. */
export type OpenOperation = OperationText & {
  readonly access: 'open';
  readonly handle: Answering<[]>;
};

/** Answers everyone, and whoever brings a token in a header by what it may do. A wrong token is refused. */
export type GreetingOperation = OperationText & {
  readonly access: 'optional';
  readonly handle: Answering<[Bearer | undefined]>;
};

/** Answers whoever brings what `access` asks for; who does not is refused before anything is looked at. */
export type GuardedOperation = OperationText & {
  readonly access: Access;
  readonly handle: Answering<[Bearer]>;
};

export type Operation = OpenOperation | GreetingOperation | GuardedOperation;

/** What a part of a path is that has a name: any text, unless a schema says which. */
type PathParameterText = { readonly description: string; readonly schema?: Schema };

/**
 * One path of the service and what it does by each method: all that there is of it, so that what is
 * served, who is let in and what is documented are one list.
 */
export type Route = {
  /** As Express reads it; `:name` is one part of the path. */
  readonly path: string;
  readonly pathParameters?: Readonly<Record<string, PathParameterText>> | undefined;
  readonly operations: Readonly<Partial<Record<Method, Operation>>>;
  /** Which requests of a method it is for, where a path means two things; the first route that takes one has it. */
  readonly takes?: (request: Request, method: string) => boolean;
  /** How failures are told; in the words of the profile unless given. */
  readonly tellFailure?: TellFailure | undefined;
  /** … and what they look like, where the words are not those of the profile. */
  readonly failureSchemas?: FailureSchemas | undefined;
  /** On every answer, failures included. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Hears how each request ended. */
  readonly ended?: ((request: Request, outcome: Outcome) => void) | undefined;
  /** Whether the path's one parameter names an endpoint to call: each is told of at its own name. */
  readonly isTemplateOfCalls?: boolean;
  /** Answers while the service starts and stops, too. */
  readonly isAlwaysServed?: boolean;
};

/** The one `:parameter` of a path, decoded. */
export function pathParameter(request: Request): string {
  const [text] = Object.values(request.params);
  return typeof text === 'string' ? text : '';
}
