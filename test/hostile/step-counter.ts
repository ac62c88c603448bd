import { type Profiler, Session } from 'node:inspector';

/** How often each function of a file ran, and the parts of it, such as the bodies of its loops. */
export type StepCounts = ReadonlyMap<string, number>;

/**
 * Counts the work of JavaScript as V8 does for code coverage: each time that a function, a branch or the body of a
 * loop is run is a step. Counts are the same on each machine, however busy it is. The work of V8's own functions
 * (copying an array, looking up a key) is not counted.
 */
export class StepCounter {
  readonly #session = new Session();
  /** Files whose address has this are counted. */
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** The steps of `work` by file and function. */
  count(work: () => void): StepCounts {
    this.#take();
    work();
    return this.#take();
  }

  close(): void {
    this.#session.disconnect();
  }

  #take(): StepCounts {
    const counts = new Map<string, number>();
    const { result } = this.#post(
      'Profiler.takePreciseCoverage',
    ) as Profiler.TakePreciseCoverageReturnType;
    for (const { url, functions } of result) {
      if (!url.includes(this.#folder)) continue;
      for (const { functionName, ranges } of functions) {
        const count = ranges.reduce((sum, range) => sum + range.count, 0);
        if (count === 0) continue;
        const name = `${url.slice(url.indexOf(this.#folder))} ${functionName}`;
        counts.set(name, (counts.get(name) ?? 0) + count);
      }
    }
    return counts;
  }

  /** A session of the thread itself answers before `post` returns. */
  #post(method: string, parameters?: object): unknown {
    let answer: unknown;
    this.#session.post(method, parameters, (error, result) => {
      if (error !== null) throw error;
      answer = result;
    });
    return answer;
  }
}

export function totalOf(counts: StepCounts): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}
