import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { HttpAnswer } from './http-client.ts';

/** An answer, and its status line and headers as they came. Its body is written over by the next one. */
export type BytesAnswer = HttpAnswer & { readonly head: string };

/** Where answers are read to at first: it grows to the largest. */
const MEMORY_BYTES = 64 * 1024;

/** A sender that was told to come back does so after this. */
const RETRY_MS = 20;

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * One connection that asks one thing at a time, with bytes made ahead and hardly any reading: what
 * Node's own client costs for a call is more than what a small answer takes. All answers are read to the
 * same memory: a buffer for each part of a large one has V8 collect garbage every few dozen calls.
 */
export class BytesClient {
  readonly #socket: Socket;
  readonly #host: string;
  readonly #token: string;
  #memory = Buffer.allocUnsafeSlow(MEMORY_BYTES);
  #receivedSize = 0;
  /** Bytes of the whole answer; 0 while its head is not there. */
  #wantedSize = 0;
  #headSize = 0;
  /** Of the last whole answer, from the start of the memory on. */
  #answerSize = 0;
  readonly #connected: Promise<void>;
  #waiting: Omit<Resolvers, 'promise'> | undefined;

  private constructor({ hostname, port, host }: URL, token: string) {
    this.#host = host;
    this.#token = token;
    this.#socket = connect({
      ...{ host: hostname, port: Number(port), noDelay: true },
      onread: {
        buffer: () => this.#memory.subarray(this.#receivedSize),
        callback: (size) => this.#receive(size),
      },
    });
    const { promise, ...connected } = resolversOf();
    this.#connected = promise;
    this.#waiting = connected;
    this.#socket.on('connect', connected.resolve);
    this.#socket.on('close', () =>
      this.#waiting?.reject(new Error('the service closed the connection')),
    );
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
  }

  static async connect(url: string, token: string): Promise<BytesClient> {
    const client = new BytesClient(new URL(url), token);
    await client.#connected;
    client.#waiting = undefined;
    return client;
  }

  /** Whether the service has not closed it: it does where nothing was asked for some seconds. */
  get isOpen(): boolean {
    return this.#socket.writable;
  }

  /** What asks for a path, to be sent as often as wanted. */
  requestFor(path: string): Buffer {
    return Buffer.from(
      `GET ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nX-API-KEY: ${this.#token}\r\n\r\n`,
    );
  }

  /** What posts a body of JSON. */
  postFor(path: string, body: Buffer): Buffer {
    const head =
      `POST ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nX-API-KEY: ${this.#token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), body]);
  }

  /** The body of a 200. @throws Error with the whole answer when it is another. */
  async ask(request: Buffer): Promise<Buffer> {
    const { status, body } = await this.send(request);
    if (status !== 200) throw new Error(`${status}: ${body.toString()}`);
    return body;
  }

  /** Sends a post, again and again while it is refused for overload. @throws Error as `ask` does. */
  async post(request: Buffer): Promise<void> {
    for (;;) {
      const { status, body } = await this.send(request);
      if (status === 200) return;
      if (status !== 429) throw new Error(`${status}: ${body.toString()}`);
      await wait(RETRY_MS);
    }
  }

  /** The answer, which must tell its length. Not to be called again before it has resolved. */
  async send(request: Buffer): Promise<BytesAnswer> {
    if (!this.isOpen) throw new Error('the service closed the connection');
    const answered = resolversOf();
    this.#waiting = answered;
    this.#socket.write(request);
    await answered.promise;
    this.#waiting = undefined;
    const head = this.#memory.toString('latin1', 0, this.#headSize);
    const body = this.#memory.subarray(this.#headSize, this.#answerSize);
    // `HTTP/1.1 200 …`
    return { status: Number(head.slice(9, 12)), head, body };
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  /** Whether to go on reading. */
  #receive(size: number): boolean {
    this.#receivedSize += size;
    if (this.#wantedSize === 0) this.#readHead();
    if (this.#wantedSize > 0 && this.#receivedSize >= this.#wantedSize) {
      this.#answerSize = this.#receivedSize;
      // Where the next answer is read to is asked for before anyone has seen this one.
      this.#receivedSize = 0;
      this.#wantedSize = 0;
      this.#waiting?.resolve();
    } else if (this.#receivedSize === this.#memory.length) {
      this.#grow(2 * this.#receivedSize);
    }
    return true;
  }

  #readHead(): void {
    const end = this.#memory.subarray(0, this.#receivedSize).indexOf(HEAD_END);
    if (end < 0) return;
    const head = this.#memory.toString('latin1', 0, end);
    // A 204 has no body and tells no length (RFC 9110 §15.3.5).
    const length = head.startsWith('204', 9) ? '0' : /content-length: (\d+)/i.exec(head)?.[1];
    if (length === undefined) throw new Error(`an answer must tell its length; got ${head}`);
    this.#headSize = end + HEAD_END.length;
    this.#wantedSize = this.#headSize + Number(length);
    if (this.#wantedSize > this.#memory.length) this.#grow(this.#wantedSize);
  }

  #grow(size: number): void {
    const memory = Buffer.allocUnsafeSlow(size);
    this.#memory.copy(memory, 0, 0, this.#receivedSize);
    this.#memory = memory;
  }
}

type Resolvers = {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
};

function resolversOf(): Resolvers {
  let resolve: () => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  return { promise, resolve, reject };
}
