import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { EventStreamLoad } from './order.ts';

const HEAD_END = '\r\n\r\n';

/** A line of Server-Sent Events with what an event holds. */
const EVENT = '\ndata:';

/** One connection that asks for one answer that does not end, and is closed as its load says. */
export class EventStreamClient {
  readonly #socket: Socket;
  readonly #load: EventStreamLoad;

  private constructor(socket: Socket, load: EventStreamLoad) {
    this.#socket = socket;
    this.#load = load;
  }

  static async connect(url: string, load: EventStreamLoad): Promise<EventStreamClient> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject);
    });
    return new EventStreamClient(socket, load);
  }

  get isOpen(): boolean {
    return this.#socket.writable;
  }

  /**
   * Status and headers, once the first event is there, or the headers where nothing more is read or nothing more is to come.
   * Rejects when the connection ends before.
   */
  async send(request: Buffer): Promise<{ readonly status: number; readonly head: string }> {
    const head = await this.#firstEvent(request);
    this.#socket.pause();
    if (this.#load.heldMs > 0) await wait(this.#load.heldMs);
    this.close();
    // `HTTP/1.1 200 …`
    return { status: Number(head.slice(9, 12)), head };
  }

  close(): void {
    this.#socket.destroy();
  }

  #firstEvent(request: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = '';
      const end = (): void => reject(new Error('the service closed the connection'));
      this.#socket.on('close', end).on('error', end);
      this.#socket.on('data', (part: Buffer) => {
        text += part.toString('latin1');
        const headSize = text.indexOf(HEAD_END);
        if (headSize < 0) return;
        const isStream = text.startsWith('200', 9) && !this.#load.isUnread;
        if (!isStream || text.includes(EVENT, headSize)) resolve(text.slice(0, headSize));
      });
      this.#socket.write(request);
    });
  }
}
