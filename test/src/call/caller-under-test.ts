import { EVERYTHING, type Reach } from '../../../engine/plan/reach.ts';
import { type EndpointAnswer, EndpointCaller } from '../../../src/call/endpoint-call.ts';
import type { Endpoint } from '../../../src/definition/endpoint.ts';
import type { LogEntry } from '../../../src/log.ts';
import { fakeAnswer, fakeEndpoint, type Run, runningBy } from '../harness.ts';

/** Answers are kept for 60 s and renewed after 20. */
export const CACHED = `-- id: 33333333-2222-4333-8444-555555555555
-- name: app.cached
-- cache: 60s
-- warm: 20s
-- param: key string
SELECT @key
`;

/** A run that was begun on the fake engine and has not ended. */
export type RunUnderWay = {
  readonly key: string;
  readonly signal: AbortSignal;
  /** Present for a renewal. */
  readonly renewal: AbortSignal | undefined;
  readonly succeed: (value?: string) => void;
  readonly fail: (error: Error) => void;
};

/**
 * An EndpointCaller whose engine's runs end when the test says so, with a clock that the test sets.
 */
export class CallerUnderTest {
  readonly clock = { ms: 1_000_000 };
  readonly entries: LogEntry[] = [];
  /** In the order they began. */
  readonly runs: RunUnderWay[] = [];
  runCount = 0;
  releaseCount = 0;
  readonly caller: EndpointCaller;

  constructor(
    options: {
      readonly callsMax?: number;
      readonly cacheBytesMax?: number;
      readonly cacheEntriesMax?: number;
      readonly hasWaiting?: () => boolean;
    } = {},
  ) {
    const run: Run = (_query, { parameters, signal, renewal }) =>
      new Promise((resolve, reject) => {
        this.runCount += 1;
        const key = String(parameters.get('key'));
        const end = (): void => void this.runs.splice(this.runs.indexOf(run), 1);
        const run: RunUnderWay = {
          key,
          signal: signal!,
          renewal,
          succeed: (value = key) => {
            end();
            const release = (): void => void this.releaseCount++;
            resolve({ ...fakeAnswer([value]), release });
          },
          fail: (error) => {
            end();
            reject(error);
          },
        };
        this.runs.push(run);
      });
    this.caller = new EndpointCaller({
      engine: runningBy(run),
      clock: { nowUs: () => 0, monotonicMs: () => this.clock.ms, wallMs: () => Date.now() },
      log: (entry) => this.entries.push(entry),
      ...options,
    });
  }

  /** A call by a caller that disconnects when `gone` aborts. */
  async call(
    key: string,
    options: {
      readonly endpoint?: Endpoint;
      readonly gone?: AbortSignal;
      readonly reach?: Reach;
    } = {},
  ): Promise<EndpointAnswer> {
    const { endpoint = ENDPOINT, gone = new AbortController().signal } = options;
    const parameters = new Map([['key', key]]);
    const call = { endpoint, parameters, reach: options.reach ?? EVERYTHING };
    return this.caller.call(call, { cancelled: () => gone });
  }

  /** Makes a call, and ends its run with `value` if there is one. */
  async answer(
    key: string,
    value: string = key,
    endpoint: Endpoint = ENDPOINT,
  ): Promise<{ readonly from: string; readonly text: string; readonly ageMs: number }> {
    const call = this.call(key, { endpoint });
    await settle();
    this.runs[0]?.succeed(value);
    const answer = await call;
    if (answer.kind !== 'shared') throw new Error('the definition keeps answers');
    const text = answer.answer.identity.bytes.toString();
    return { from: answer.from, text, ageMs: answer.ageMs };
  }
}

export const ENDPOINT = fakeEndpoint(CACHED);

/** Waits until everything that needs only further turns has happened. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
