import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';

/** One event of a stream; `id` is the last that was told, as a browser keeps it. */
export type StreamEvent = { readonly id: string; readonly event: string; readonly data: string };

/** A client of Server-Sent Events, which reads a stream as the standard of HTML says (§9.2.6). */
export class EventStream {
  readonly response: IncomingMessage;
  readonly #request: ClientRequest;
  readonly #events: StreamEvent[] = [];
  /** Parts of the block that has not ended. */
  #rest: string[] = [];
  #hasEnded = false;
  /** Of the last block, with data or without. */
  lastId = '';
  /** Blocks without data. */
  emptyCount = 0;
  retryMs: number | undefined;

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request;
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#read(text));
    response.on('error', () => {});
    response.on('close', () => {
      this.#hasEnded = true;
    });
  }

  static async open(
    url: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<EventStream> {
    const request = httpRequest(url, { headers, agent: false });
    request.on('error', () => {});
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return new EventStream(request, response);
  }

  /** The next events, as soon as there are so many, or the stream has ended. */
  async take(count: number): Promise<StreamEvent[]> {
    while (this.#events.length < count && !this.#hasEnded) await this.#more();
    return this.#events.splice(0, count);
  }

  /** After so many blocks without data in all. */
  async emptied(count: number): Promise<void> {
    while (this.emptyCount < count && !this.#hasEnded) await this.#more();
  }

  /** All that is left once the stream has ended. */
  async end(): Promise<StreamEvent[]> {
    while (!this.#hasEnded) await this.#more();
    return this.#events.splice(0);
  }

  /** Goes away, as a client does that is closed. */
  close(): void {
    this.#request.destroy();
  }

  async #more(): Promise<void> {
    const stop = new AbortController();
    const { signal } = stop;
    const more = [
      once(this.response, 'data', { signal }),
      once(this.response, 'close', { signal }),
    ];
    // A connection that is cut off ends the stream as any other does.
    await Promise.race(more.map((each) => each.catch(() => {})));
    stop.abort();
  }

  #read(text: string): void {
    // A long event comes in many parts: only the new one is searched, with the character before it.
    const joint = this.#rest.at(-1)?.slice(-1) ?? '';
    this.#rest.push(text);
    if (!(joint + text).includes('\n\n')) return;
    const blocks = this.#rest.join('').split('\n\n');
    this.#rest = [blocks.pop()!];
    for (const block of blocks) this.#readBlock(block);
  }

  #readBlock(block: string): void {
    let event = 'message';
    const data: string[] = [];
    for (const line of block.split('\n')) {
      const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line)!;
      if (field === 'id') this.lastId = value!;
      else if (field === 'event') event = value!;
      else if (field === 'data') data.push(value!);
      else if (field === 'retry') this.retryMs = Number(value);
    }
    if (data.length === 0) this.emptyCount += 1;
    else this.#events.push({ id: this.lastId, event, data: data.join('\n') });
  }
}
