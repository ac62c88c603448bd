import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { HttpAnswer } from './http-client.ts';

/** An answer, and its status line and headers as they came. */
export type BytesAnswer = HttpAnswer & { readonly head: string };

/** A sender that was told to come back does so after this. */
const RETRY_MS = 20;

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * One connection that asks one thing at a time, with bytes made ahead and hardly any reading: what
 * Node's own client costs for a call is more than what a small answer takes.
 */
export class BytesClient {
  readonly #socket: Socket;
  readonly #host: string;
  readonly #token: string;
  #received: Buffer[] = [];
  #receivedSize = 0;
  /** Bytes of the whole answer; 0 while its head is not there. */
  #wantedSize = 0;
  #headSize = 0;
  #waiting: Resolvers | undefined;

  private constructor(socket: Socket, host: string, token: string) {
    this.#socket = socket;
    this.#host = host;
    this.#token = token;
    socket.on('data', (bytes) => this.#receive(bytes));
    socket.on('close', () => this.#waiting?.reject(new Error('the service closed the connection')));
    socket.on('error', (error) => this.#waiting?.reject(error));
  }

  static connect(url: string, token: string): Promise<BytesClient> {
    const { hostname, port, host } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      socket.once('connect', () => resolve(new BytesClient(socket, host, token)));
      socket.once('error', reject);
    });
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
    const answer = this.#received.length === 1 ? this.#received[0]! : Buffer.concat(this.#received);
    const head = answer.toString('latin1', 0, this.#headSize);
    const body = answer.subarray(this.#headSize);
    this.#received = [];
    this.#receivedSize = 0;
    this.#wantedSize = 0;
    // `HTTP/1.1 200 …`
    return { status: Number(head.slice(9, 12)), head, body };
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    this.#received.push(bytes);
    this.#receivedSize += bytes.length;
    if (this.#wantedSize === 0) this.#readHead();
    if (this.#wantedSize > 0 && this.#receivedSize >= this.#wantedSize) this.#waiting?.resolve();
  }

  #readHead(): void {
    if (this.#received.length > 1) this.#received = [Buffer.concat(this.#received)];
    const end = this.#received[0]!.indexOf(HEAD_END);
    if (end < 0) return;
    const head = this.#received[0]!.toString('latin1', 0, end);
    const length = /content-length: (\d+)/i.exec(head)?.[1];
    if (length === undefined) throw new Error(`an answer must tell its length; got ${head}`);
    this.#headSize = end + HEAD_END.length;
    this.#wantedSize = this.#headSize + Number(length);
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
