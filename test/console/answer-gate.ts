import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { BEGUN_BYTES } from '../support/long-download.ts';

/** A proxy between a browser and a service: downloads and events pass it as a test wants, all else as it is. */
export class AnswerGate {
  /** Called before a download is asked for. */
  onDownload: () => void = () => {};
  /** Whether only the beginning of a download goes on. */
  isHolding = false;
  /** Whether only the rows of Explore go on, and not its histogram. */
  isHoldingBars = false;
  readonly #server: Server;
  readonly #held = new Set<IncomingMessage>();
  readonly #heldBars: (() => void)[] = [];

  private constructor(target: string) {
    this.#server = createServer((request, response) => this.#pass(target, request, response));
  }

  static async start(target: string): Promise<AnswerGate> {
    const gate = new AnswerGate(target);
    await new Promise<void>((resolve) => gate.#server.listen(0, '127.0.0.1', resolve));
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Lets the answers go on that are held up, as far as the service sends them. */
  release(): void {
    for (const goOn of this.#heldBars.splice(0)) goOn();
    for (const answer of this.#held) answer.resume();
    this.#held.clear();
  }

  /** Closes the connections of the downloads that are held up. */
  breakOff(): void {
    for (const answer of this.#held) answer.destroy();
    this.#held.clear();
  }

  async close(): Promise<void> {
    this.breakOff();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(target: string, request: IncomingMessage, response: ServerResponse): void {
    const { method, url = '/', headers } = request;
    const isDownload = method === 'GET' && url.startsWith('/api/query/tickets/');
    if (isDownload) this.onDownload();
    const asking = httpRequest(`${target}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      if (url === '/api/explore' && this.isHoldingBars) {
        void this.#holdBars(answer, response);
        return;
      }
      answer.on('close', () => {
        if (answer.complete) response.end();
        else response.destroy();
      });
      if (isDownload && this.isHolding) this.#hold(answer, response);
      else answer.pipe(response);
    });
    asking.on('error', () => response.destroy());
    response.on('close', () => asking.destroy());
    request.pipe(asking);
  }

  /** Sends what follows the first rows when it is released. */
  async #holdBars(answer: IncomingMessage, response: ServerResponse): Promise<void> {
    for await (const line of createInterface({ input: answer })) {
      response.write(`${line}\n`);
      if (!line.startsWith('{"type":"rows"')) continue;
      await new Promise<void>((resolve) => this.#heldBars.push(resolve));
    }
    response.end();
  }

  #hold(answer: IncomingMessage, response: ServerResponse): void {
    this.#held.add(answer);
    let left = BEGUN_BYTES;
    answer.on('data', (chunk: Buffer) => {
      response.write(chunk);
      left -= chunk.length;
      if (left <= 0 && this.#held.has(answer)) answer.pause();
    });
  }
}
