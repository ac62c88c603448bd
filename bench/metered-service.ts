import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathInRepository } from '../test/support/source-files.ts';
import { ServiceProcess } from './service-process.ts';

/** As `step-meter.mjs` writes them. */
export type Steps = {
  readonly count: number;
  readonly longest: readonly {
    /** The class of what the event loop called. */
    readonly kind: string;
    /** Milliseconds without those in which another process had the processor, and with them. */
    readonly ms: number;
    readonly wallMs: number;
    /** Whether the host of this machine took a processor from it meanwhile, as far as can be told. */
    readonly isStolen: boolean;
  }[];
};

/** The service with a hook in it that measures each step of its main thread (`step-meter.mjs`). */
export class MeteredService {
  readonly service: ServiceProcess;
  readonly #folder: string;

  private constructor(service: ServiceProcess, folder: string) {
    this.service = service;
    this.#folder = folder;
  }

  static async start(
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<MeteredService> {
    const folder = mkdtempSync(join(tmpdir(), 'weir-steps-'));
    const hooked = ['--import', pathInRepository('bench/step-meter.mjs'), ...command];
    const whole = { ...environment, STEPS_TO: stepsIn(folder) };
    return new MeteredService(
      await ServiceProcess.start(hooked, whole, join(folder, 'data')),
      folder,
    );
  }

  /** The steps while `work` is done, and what it gives. */
  async measure<T>(work: () => Promise<T>): Promise<{ readonly steps: Steps; readonly value: T }> {
    rmSync(stepsIn(this.#folder), { force: true });
    this.service.signal('SIGUSR2');
    const value = await work();
    this.service.signal('SIGUSR2');
    return { steps: await written(stepsIn(this.#folder)), value };
  }

  async stop(): Promise<void> {
    await this.service.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function stepsIn(folder: string): string {
  return join(folder, 'steps.json');
}

/** The file is there once the service has handled the signal. */
async function written(path: string): Promise<Steps> {
  for (let look = 0; look < 100; look++) {
    await wait(100);
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Steps;
    } catch {
      // Not there yet, or not all of it.
    }
  }
  throw new Error('the service has not told its steps');
}
