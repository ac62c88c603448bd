import type { Project } from '../../src/demo/traffic/log-event.ts';
import type { Random } from '../../src/demo/traffic/random.ts';

const REGIONS = ['us-east-1', 'eu-central-1', 'ap-south-1', 'sa-east-1', 'ap-southeast-2'];
const METHODS = ['POST', 'POST', 'GET', 'OPTIONS'];

/** Longer ones are ended by the platform. */
const EXECUTION_MS_MAX = 150_000;

/** An invocation of a function as its runtime logs it, with few fields: some 400 bytes of JSON. */
export function invocationEvent(random: Random, project: Project, timestampUs: number): string {
  const { ref, functions } = project;
  const functionId = functions[random.zipf(functions.length)]!;
  const version = String(1 + random.zipf(60));
  const status = random.below(100) < 96 ? 200 : random.pick([400, 401, 404, 429, 500, 503, 546]);
  return JSON.stringify({
    id: random.uuid(),
    timestamp: timestampUs,
    event_message: `${random.pick(METHODS)} | ${status}`,
    metadata: {
      deployment_id: `${ref}_${functionId}_${version}`,
      execution_time_ms: Math.min(random.durationMs(90), EXECUTION_MS_MAX),
      function_id: functionId,
      project_ref: ref,
      region: REGIONS[random.zipf(REGIONS.length)]!,
      response: { status_code: status },
      version,
    },
  });
}
