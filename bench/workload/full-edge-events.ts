import { edgeRequest } from '../../src/demo/traffic/edge-request.ts';
import { Draw } from './draw.ts';
import type { EventMaker } from './event-maker.ts';
import type { Tenants } from './tenants.ts';

/** Requests with all that the edge knows of the client, its fingerprints among it: some 3.2 KB. */
export class FullEdgeEvents implements EventMaker {
  readonly #draw: Draw;

  constructor(of: { readonly tenants: Tenants; readonly eventCount: number }) {
    this.#draw = new Draw(3, of);
  }

  next(): string {
    const { random } = this.#draw;
    const project = this.#draw.project();
    const timestampUs = this.#draw.timestampUs();
    const timestampMs = Math.floor(timestampUs / 1000);
    const event = edgeRequest({ random, project, timestampMs, timestamp: '' });
    // With microseconds, so that hardly any two events of a project have one time.
    return JSON.stringify({ ...event, timestamp: timestampUs });
  }
}
