import { Draw, type DrawOptions } from './draw.ts';
import type { EventMaker } from './event-maker.ts';

const POOLS = ['postgres/authenticator', 'postgres/postgres', 'postgres/app', 'analytics/reader'];
const ACTIONS = ['login', 'login', 'close', 'wait'];

/** Connections that come and go, as the pooler before a database logs them: some 240 bytes. */
export class PoolerEvents implements EventMaker {
  readonly #draw: Draw;

  constructor(of: DrawOptions) {
    this.#draw = new Draw(8, of);
  }

  next(): string {
    const draw = this.#draw;
    const { random } = draw;
    const {
      project: { ref },
      id,
      timestamp,
    } = draw.event();
    const pool = draw.skewed(POOLS);
    const action = random.pick(ACTIONS);
    return `{"id":"${id}","timestamp":${timestamp},"event_message":"C-0x${draw.hex8()}: ${pool}: ${action}","project":"${ref}","metadata":{"host":"db-${ref}","pool":"${pool}","action":"${action}","wait_us":${random.durationMs(300)}}}`;
  }
}
