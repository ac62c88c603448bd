import type { ServerResponse } from 'node:http';
import type { Tenant } from '../../engine/index.ts';
import { beginBytes, sendBytes } from './response.ts';
import type { WorkTurns } from './work-turns.ts';

/**
 * Bytes of an answer that are written at once. The system copies them meanwhile, which takes the main thread a
 * millisecond where it must find memory for them first.
 */
const PIECE_BYTES_MAX = 64 * 1024;

/** Writes an answer at the rate of its caller, in turns with work for other tenants. */
export class AnswerWriter {
  readonly #response: ServerResponse;
  readonly #turns: WorkTurns;
  readonly #tenant: Tenant;

  constructor(
    response: ServerResponse,
    of: { readonly turns: WorkTurns; readonly tenant: Tenant },
  ) {
    this.#response = response;
    this.#turns = of.turns;
    this.#tenant = of.tenant;
  }

  /** Sends a complete answer, given in parts, with its length; for HEAD, only its headers. */
  async send(contentType: string, parts: readonly Uint8Array[]): Promise<void> {
    const response = this.#response;
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    if (size <= PIECE_BYTES_MAX || response.req.method === 'HEAD') {
      sendBytes(response, 200, contentType, parts);
      return;
    }
    beginBytes(response, 200, contentType, parts);
    for (const part of parts) await this.write(part);
    response.end();
  }

  /** Resolves when the connection takes more bytes, is closed, or `ending` aborts, which leaves the rest out. */
  async write(bytes: Uint8Array, ending?: AbortSignal): Promise<void> {
    const response = this.#response;
    const isOver = (): boolean => response.destroyed || ending?.aborted === true;
    for (let start = 0; start < bytes.length && !isOver(); start += PIECE_BYTES_MAX) {
      const piece = bytes.subarray(start, start + PIECE_BYTES_MAX);
      await this.#turns.run({
        ...{ tenant: this.#tenant, size: piece.length },
        // Waits from the same moment on: the connection may have room again before anything else runs.
        start: async () => {
          if (!isOver() && !response.write(piece)) await roomToWrite(response, ending);
        },
      });
    }
  }
}

/** Resolves when more may be written, the connection is closed, or `ending` aborts. */
function roomToWrite(response: ServerResponse, ending?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      ending?.removeEventListener('abort', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
    ending?.addEventListener('abort', done);
    if (response.destroyed || ending?.aborted === true) done();
  });
}
