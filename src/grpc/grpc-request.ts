import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { Readable } from 'node:stream';
import { ServiceError } from '../errors.ts';
import type { Connection } from '../http/transport.ts';
import { PREFIX_SIZE } from './grpc-message.ts';

/** Headers that have another meaning in HTTP, or that the prefix of the message replaces. */
const HEADERS_LEFT_OUT = [
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'expect',
];

/**
 * The request of a unary call. Its body is the message without the prefix, and its headers describe that body as those
 * of a post over HTTP do.
 *
 * Invariant: bytes of the message are read only while somebody reads this, so that no more than HTTP/2's window of the
 * call is held unasked.
 */
export class GrpcRequest extends Readable {
  /** The called method: `/package.Service/Method`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly params = {};
  readonly route: { readonly path: string };
  readonly socket: Connection;
  readonly #stream: ServerHttp2Stream;
  readonly #prefix = Buffer.alloc(PREFIX_SIZE);
  #prefixSize = 0;
  /** Bytes of the message that have not arrived. */
  #leftBytes = 0;
  #arrivedBytes = 0;
  #isComplete = false;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, connection: Connection) {
    super();
    this.#stream = stream;
    this.path = headers[':path'] ?? '';
    this.route = { path: this.path };
    this.headers = { ...headers };
    for (const name of HEADERS_LEFT_OUT) delete this.headers[name];
    this.socket = connection;
    // Whoever reads sees `errored`. Nobody reads while the call waits for its turn.
    this.on('error', () => {});
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('end', () => this.#end());
    stream.on('close', () => this.destroy());
    stream.pause();
  }

  /** Whether the message has arrived, and nothing more will. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Bytes of the call that have arrived. */
  get arrivedBytes(): number {
    return this.#arrivedBytes;
  }

  /**
   * Reads the prefix of the message, after which `headers` has the length and the encoding of the body. Must be called
   * once, before anything is read.
   *
   * @throws ServiceError if no message comes.
   */
  async begin(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const fail = (): void => reject(this.errored ?? endedTooSoon());
      if (this.destroyed) {
        fail();
        return;
      }
      this.once('prefix', resolve).once('close', fail);
      this.#stream.resume();
    });
  }

  /** What still comes is discarded, because the call ends only when everything was read. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stream.resume();
    done(error);
  }

  override _read(): void {
    if (this.#prefixSize === PREFIX_SIZE) this.#stream.resume();
  }

  #take(chunk: Buffer): void {
    if (this.destroyed) return;
    this.#arrivedBytes += chunk.length;
    const isBegun = this.#prefixSize === PREFIX_SIZE;
    const bytes = isBegun ? chunk : this.#takePrefix(chunk);
    this.#leftBytes -= bytes.length;
    if (this.destroyed) return;
    if (this.#leftBytes < 0) {
      this.destroy(new ServiceError('invalid_body', 'a call has one message; got more'));
    } else if (bytes.length > 0 && !this.push(bytes)) this.#stream.pause();
  }

  /** Returns the bytes after the prefix. */
  #takePrefix(chunk: Buffer): Buffer {
    const count = chunk.copy(this.#prefix, this.#prefixSize);
    this.#prefixSize += count;
    if (this.#prefixSize === PREFIX_SIZE) {
      // The message has to wait until there is room for it.
      this.#stream.pause();
      this.#readPrefix();
    }
    return chunk.subarray(count);
  }

  #readPrefix(): void {
    const flag = this.#prefix.readUInt8(0);
    this.#leftBytes = this.#prefix.readUInt32BE(1);
    this.headers['content-length'] = String(this.#leftBytes);
    const { 'grpc-encoding': encoding } = this.headers;
    if (flag === 0) this.emit('prefix');
    else if (flag === 1 && typeof encoding === 'string') {
      this.headers['content-encoding'] = encoding;
      this.emit('prefix');
    } else {
      const message =
        flag === 1
          ? 'the message is compressed, and grpc-encoding does not say how'
          : `the first byte of a message must be 0 or 1; got ${flag}`;
      this.destroy(new ServiceError('invalid_body', message));
    }
  }

  #end(): void {
    if (this.destroyed) return;
    if (this.#prefixSize < PREFIX_SIZE || this.#leftBytes > 0) {
      this.destroy(endedTooSoon());
      return;
    }
    this.#isComplete = true;
    this.push(null);
  }
}

function endedTooSoon(): ServiceError {
  return new ServiceError('invalid_body', 'the call ended before its message did');
}
