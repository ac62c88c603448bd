import type { OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { Writable } from 'node:stream';
import { frameMessage } from './grpc-message.ts';
import { GRPC_OK, type GrpcStatus, toTrailers } from './grpc-status.ts';

/** Headers of an answer over HTTP that a message has in its prefix, or does not need. */
const HEADERS_LEFT_OUT: ReadonlySet<string> = new Set(['content-type', 'content-length']);

/** Headers of every answer. gRPC has names of its own for encodings; this is how a caller learns which it may use. */
const COMMON_HEADERS: OutgoingHttpHeaders = {
  ':status': 200,
  'content-type': 'application/grpc+proto',
  'grpc-accept-encoding': 'identity,gzip,deflate,snappy,zstd',
};

/**
 * The answer of a unary call: what is written to it is one message, which is sent at the end with the status OK. A
 * failure has a status and no message. Writing to a call whose caller has gone does nothing.
 */
export class GrpcResponse extends Writable {
  /** The status that HTTP would have, for reports. A failure never sets it. */
  statusCode = 200;
  readonly #stream: ServerHttp2Stream;
  readonly #headers = new Map<string, string>();
  readonly #parts: Uint8Array[] = [];

  constructor(stream: ServerHttp2Stream) {
    super();
    this.#stream = stream;
    stream.once('close', () => this.destroy());
  }

  get headersSent(): boolean {
    return this.#stream.headersSent;
  }

  /** Sets metadata of the answer. */
  setHeader(name: string, value: string | number | readonly string[]): void {
    this.#headers.set(name.toLowerCase(), String(value));
  }

  getHeader(name: string): string | undefined {
    return this.#headers.get(name.toLowerCase());
  }

  override _write(part: Uint8Array, _encoding: string, done: () => void): void {
    this.#parts.push(part);
    done();
  }

  override _final(done: () => void): void {
    const stream = this.#stream;
    if (this.#isOpen()) {
      stream.respond(this.#listHeaders(), { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(GRPC_OK) }));
      stream.end(frameMessage(this.#parts));
    }
    done();
  }

  /** Ends the call with a failure. */
  fail(status: GrpcStatus): void {
    const stream = this.#stream;
    if (this.#isOpen()) {
      const headers = { ...this.#listHeaders(), ...toTrailers(status) };
      stream.respond(headers, { endStream: true });
      // The caller need not send the rest of its message (RFC 9113 §8.1).
      if (!stream.readableEnded) stream.close();
    }
    this.destroy();
  }

  #isOpen(): boolean {
    const { destroyed, closed, headersSent } = this.#stream;
    return !destroyed && !closed && !headersSent;
  }

  #listHeaders(): OutgoingHttpHeaders {
    const own = [...this.#headers].filter(([name]) => !HEADERS_LEFT_OUT.has(name));
    return { ...COMMON_HEADERS, ...Object.fromEntries(own) };
  }
}
