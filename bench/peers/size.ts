import { KINDS, type Kind } from '../workload/workload.ts';

/** How much is measured. */
export type Size = {
  readonly projectCount: number;
  readonly eventCounts: ReadonlyMap<Kind, number>;
  /** How long an engine is asked of other projects first: V8 goes on compiling for some seconds. */
  readonly processWarmUpMs: number;
  /** What a question is asked before its time counts: this long, and at least once. */
  readonly warmUpMs: number;
  /** A question is asked again and again for so long, but no more often than this. */
  readonly measuringMs: number;
  readonly callCountMax: number;
  readonly callCountMin: number;
  /** How often a first call is timed, each time in a process of its own. */
  readonly firstCallCount: number;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  [
    'small',
    {
      ...{ projectCount: 20, eventCounts: countsOf(4_000, { full: 1_000 }) },
      ...{
        processWarmUpMs: 0,
        warmUpMs: 0,
        measuringMs: 50,
        callCountMax: 3,
        callCountMin: 1,
        firstCallCount: 1,
      },
    },
  ],
  [
    'medium',
    {
      projectCount: 2_000,
      eventCounts: countsOf(100_000, {
        lean: 1e6,
        invocations: 1e6,
        full: 50_000,
        floats: 500_000,
      }),
      ...{
        processWarmUpMs: 6_000,
        warmUpMs: 400,
        measuringMs: 500,
        callCountMax: 200,
        callCountMin: 5,
        firstCallCount: 3,
      },
    },
  ],
  [
    'large',
    {
      projectCount: 2_000,
      eventCounts: countsOf(500_000, { lean: 1e7, invocations: 1e7, floats: 5e6 }),
      ...{
        processWarmUpMs: 20_000,
        warmUpMs: 500,
        measuringMs: 700,
        callCountMax: 300,
        callCountMin: 5,
        firstCallCount: 3,
      },
    },
  ],
]);

/** @throws Error when there is no such size. */
export function sizeOf(name: string): Size {
  const size = SIZES.get(name);
  if (size === undefined) {
    throw new Error(`--size must be ${Array.from(SIZES.keys()).join(' or ')}; got ${name}`);
  }
  return size;
}

/** So many events of each kind, but of some as many as `special` says. */
function countsOf(
  eventCount: number,
  special: Readonly<Partial<Record<Kind, number>>>,
): ReadonlyMap<Kind, number> {
  return new Map(Array.from(KINDS.keys(), (kind) => [kind, special[kind] ?? eventCount]));
}
