import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { must } from '../../engine/assert.ts';
import type { Engine, RunOptions } from '../../engine/engine.ts';
import type { PreparedQuery } from '../../engine/plan/prepared-query.ts';
import { findStorePath } from '../../ingest/data-folder.ts';
import { PARTITION_QUIET_US, SEAL_AGE_US } from '../../ingest/limits.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import type { Catalogue } from '../../src/definition/catalogue.ts';
import { HEAP_GROWING_PERCENT, TICK_MS } from '../../src/limits.ts';
import type { Backend } from '../../src/store/backend.ts';
import { NOW_US } from '../workload/clock.ts';
import { KINDS, type Kind } from '../workload/workload.ts';
import type { AnswerRow, Question } from './question.ts';
import type { Subject } from './subject.ts';
import { rowsOf, weirCallOf } from './weir-call.ts';
import { dataDirOf, partOf, WEIR_ENVIRONMENT, WEIR_PARTS, type WeirPart } from './weir-folders.ts';
import { weirModules } from './weir-modules.ts';

/** This process is at rest when all of its threads use at most so much, in so long a time. */
const REST_LOOK_MS = 1_000;
const REST_CPU_US_MAX = 100_000;

export type WeirSubjectOptions = {
  readonly folder: string;
  /** The project that all measurements of floats are of. */
  readonly floatProject: string;
  /** The kinds that were taken in. */
  readonly kinds: readonly Kind[];
  /** Settings beside those that all have. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether weir is run from its sources, as tests do; what is measured is what was built. */
  readonly isUncompiled: boolean;
};

type Part = {
  readonly backend: Backend;
  readonly catalogue: Catalogue;
};

type Run = {
  readonly engine: Pick<Engine, 'run'>;
  readonly query: PreparedQuery;
  readonly options: RunOptions;
};

/** weir's engine in this process, over what its service has stored: no HTTP, no kept answers. */
export class WeirEngine implements Subject {
  readonly quantiles = 'exact';
  readonly #options: WeirSubjectOptions;
  readonly #parts: ReadonlyMap<WeirPart, Part>;
  readonly #ticking: NodeJS.Timeout;
  /** Where its clock stands. */
  #nowUs = NOW_US;
  /** Reading parameters is what HTTP costs. */
  readonly #runs = new Map<Question, Run>();

  private constructor(options: WeirSubjectOptions, parts: ReadonlyMap<WeirPart, Part>) {
    this.#options = options;
    this.#parts = parts;
    this.#ticking = setInterval(() => {
      for (const { backend } of parts.values()) backend.tick(this.#nowUs);
    }, TICK_MS);
  }

  static async open(options: WeirSubjectOptions): Promise<WeirEngine> {
    // As the service does, before it starts threads.
    setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
    const { openBackend, loadCatalogue, parseSettings, Readiness } = await weirModules(
      options.isUncompiled,
    );
    const parts = new Map<WeirPart, Part>();
    for (const part of WEIR_PARTS) {
      const settings = parseSettings({
        ...WEIR_ENVIRONMENT,
        ...options.environment,
        DATA_DIR: await findStorePath(dataDirOf(options.folder, part)),
      });
      const backend = openBackend({
        settings,
        log: (entry) => {
          if (entry.level === 'error') throw new Error(JSON.stringify(entry));
        },
      });
      const { engine } = backend;
      const catalogue = await loadCatalogue({ folder: settings.endpointsDir, engine });
      await backend.recover(NOW_US, new Readiness());
      parts.set(part, { backend, catalogue });
    }
    return new WeirEngine(options, parts);
  }

  version(): Promise<string> {
    return Promise.resolve('this checkout');
  }

  counts(): Promise<ReadonlyMap<Kind, number>> {
    const counts = this.#options.kinds.map((kind): [Kind, number] => {
      const sources = this.#part(partOf(kind)).backend.stats().sources;
      const source = sources.find((stats) => stats.source === KINDS.get(kind)!.source);
      return [kind, must(source, 'the source of a kind is one of the service').rowCount];
    });
    return Promise.resolve(new Map(counts));
  }

  async atRest(): Promise<void> {
    for (let isBusy = true; isBusy; ) {
      const before = process.cpuUsage();
      await wait(REST_LOOK_MS);
      const { user, system } = process.cpuUsage(before);
      isBusy = user + system > REST_CPU_US_MAX;
    }
  }

  /**
   * Comes to where a service is later, to which nothing was sent any more: what was open is sealed, and days that are
   * over are merged, as other engines are told to.
   */
  async settle(): Promise<void> {
    const sealed = NOW_US + SEAL_AGE_US;
    const dayOver = sealed + PARTITION_US + PARTITION_QUIET_US;
    // Half of the way first: a clock that leaps by more than a day is taken for wrong.
    for (const nowUs of [NOW_US, sealed, (sealed + dayOver) / 2, dayOver]) {
      this.#nowUs = nowUs;
      await wait(TICK_MS);
      await this.atRest();
    }
  }

  prepare(question: Question): void {
    this.#run(question);
  }

  async ask(question: Question): Promise<boolean> {
    const { engine, query, options } = this.#run(question);
    const { release } = await engine.run(query, options);
    release();
    return true;
  }

  async rows(question: Question): Promise<readonly AnswerRow[]> {
    const { engine, query, options } = this.#run(question);
    const { json, release } = await engine.run(query, options);
    const text = Buffer.from(json).toString();
    release();
    return rowsOf(question, text);
  }

  async close(): Promise<void> {
    clearInterval(this.#ticking);
    for (const { backend } of this.#parts.values()) await backend.close(NOW_US);
  }

  #run(question: Question): Run {
    const known = this.#runs.get(question);
    if (known !== undefined) return known;
    const { endpoint, parameters } = weirCallOf(question, this.#options.floatProject);
    const { backend, catalogue } = this.#part(question.kind === 'logs-all' ? 'full' : 'others');
    const found = must(catalogue.find(endpoint), `there is a definition ${endpoint}`);
    const texts = new Map(Object.entries(parameters).map(([name, text]) => [name, [text]]));
    const run = {
      engine: backend.engine as Pick<Engine, 'run'>,
      query: found.query,
      options: {
        parameters: found.parameters.parse(texts),
        nowUs: NOW_US,
        rowsMax: found.definition.rowsMax,
      },
    };
    this.#runs.set(question, run);
    return run;
  }

  #part(part: WeirPart): Part {
    return must(this.#parts.get(part), 'both parts are open');
  }
}
