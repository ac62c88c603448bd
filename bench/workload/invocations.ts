import { Draw } from './draw.ts';
import type { EventMaker } from './event-maker.ts';
import type { Tenants } from './tenants.ts';

const REGIONS = ['eu-central-1', 'us-east-1', 'ap-southeast-1', 'sa-east-1', 'us-west-1'];
const METHODS = ['POST', 'GET', 'OPTIONS'];

/** Longer ones are ended by the platform. */
const EXECUTION_MS_MAX = 30_000;

/** Invocations of the functions that projects deploy, as their runtime logs them: some 370 bytes. */
export class Invocations implements EventMaker {
  readonly #draw: Draw;

  constructor(of: { readonly tenants: Tenants; readonly eventCount: number }) {
    this.#draw = new Draw(2, of);
  }

  next(): string {
    const draw = this.#draw;
    const { random } = draw;
    const {
      project: { ref, functions },
      id,
      timestamp,
    } = draw.event();
    const functionId = draw.skewed(functions);
    const version = 1 + random.below(40);
    const status = statusOf(draw);
    const executionMs = Math.min(random.durationMs(60), EXECUTION_MS_MAX);
    return `{"id":"${id}","timestamp":${timestamp},"event_message":"${draw.skewed(METHODS)} | ${status}","metadata":{"project_ref":"${ref}","function_id":"${functionId}","execution_time_ms":${executionMs},"region":"${draw.skewed(REGIONS)}","deployment_id":"${ref}_${functionId}_${version}","version":"${version}","response":{"status_code":${status}}}}`;
  }
}

function statusOf({ random }: Draw): number {
  const chance = random.next();
  if (chance < 0.95) return 200;
  if (chance < 0.98) return random.pick([400, 401, 404, 429]);
  return random.pick([500, 503, 504, 546]);
}
