import type { IncomingHttpHeaders } from 'node:http';
import type { Readable, Writable } from 'node:stream';

/** A request with a body. */
export type BodyRequest = Readable & { readonly headers: IncomingHttpHeaders };

/** An answer that has room for itself as long as it is open. */
export type BodyResponse = Writable & {
  /** Asks for the body. Only HTTP has senders that wait for this. */
  readonly writeContinue?: () => void;
};

/** The connection of a request. Requests of one connection have the same. */
export type Connection = {
  readonly remoteAddress?: string | undefined;
  on(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
};

/** A request over HTTP or gRPC. */
export type TransportRequest = BodyRequest & {
  /** The named parts of its path. */
  readonly params: Readonly<Record<string, string | string[]>>;
  readonly route: { readonly path: string };
  readonly socket: Connection;
};

/** The answer to a request over HTTP or gRPC. */
export type TransportResponse = BodyResponse & {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: string | number | readonly string[]): unknown;
  getHeader(name: string): string | number | readonly string[] | undefined;
};
