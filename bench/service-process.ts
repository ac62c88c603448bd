import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readBytesOf } from './read-bytes.ts';

/** A service that is at rest uses at most so much of a processor, looked at so often. */
const REST_LOOK_MS = 1_000;
const REST_TICKS_MAX = 10;
const REST_SECONDS_MAX = 120;

/** Of what the system counts processor time in. */
const TICK_MS = 10;

/** Settings of the allocator as in the image: glibc returns freed memory. The promise about memory requires them. */
const IMAGE_ALLOCATOR = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '1048576',
  MALLOC_TRIM_THRESHOLD_: '1048576',
};

/**
 * The service in a process of its own, as a user runs it, on a free port and an empty folder, or on
 * one that is given and stays.
 */
export class ServiceProcess {
  readonly url: string;
  /** Where it listens for OpenTelemetry over gRPC, if it does. */
  readonly otlpGrpc: string | undefined;
  readonly token: string;
  readonly #process: ChildProcess;
  /** To be removed at the end. */
  readonly #ownFolder: string | undefined;

  private constructor(parts: {
    readonly url: string;
    readonly otlpGrpc: string | undefined;
    readonly token: string;
    readonly child: ChildProcess;
    readonly ownFolder: string | undefined;
  }) {
    this.url = parts.url;
    this.otlpGrpc = parts.otlpGrpc;
    this.token = parts.token;
    this.#process = parts.child;
    this.#ownFolder = parts.ownFolder;
  }

  /**
   * Starts it with the allocator of the image. `command` is what runs main: `['dist/src/main.js']`, or with tsx before it.
   * `nodeWords` run Node: a program and its first words, which must leave it the process that they were started in.
   */
  static async start(
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
    givenFolder?: string,
    nodeWords: readonly string[] = [process.execPath],
  ): Promise<ServiceProcess> {
    const folder = givenFolder ?? mkdtempSync(join(tmpdir(), 'weir-bench-'));
    const ownFolder = givenFolder === undefined ? folder : undefined;
    const token = 'bench-token-that-may-do-everything';
    const [program, ...words] = nodeWords;
    const child = spawn(program!, [...words, ...command, 'start'], {
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        DATA_DIR: folder,
        PRIVATE_ACCESS_TOKEN: token,
        ...IMAGE_ALLOCATOR,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { url, otlpGrpc } = await listeningAt(child);
    return new ServiceProcess({ url, otlpGrpc, token, child, ownFolder });
  }

  /** Resident memory in bytes, as the system counts it. */
  residentBytes(): number {
    return this.#statusBytes('VmRSS');
  }

  /** The most there was since the start, or since this was last called; resident memory in bytes. */
  takePeakBytes(): number {
    const peakBytes = this.#statusBytes('VmHWM');
    // Makes the system count from here on (proc_pid_clear_refs(5)).
    writeFileSync(`/proc/${this.#process.pid}/clear_refs`, '5');
    return peakBytes;
  }

  /** Milliseconds that the main thread has had a processor, and has waited for one (proc_pid_schedstat(5)). */
  mainThreadMs(): { readonly worked: number; readonly waited: number } {
    const { pid } = this.#process;
    const [worked, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return { worked: Number(worked) / 1e6, waited: Number(waited) / 1e6 };
  }

  /** Milliseconds of processors that all threads have had. */
  processorMs(): number {
    return this.#processorTicks() * TICK_MS;
  }

  /** Bytes that all threads have read, of files and of connections, in memory or not (proc_pid_io(5): rchar). */
  readBytes(): number {
    return readBytesOf(this.#process.pid!);
  }

  /**
   * Resolves once what was taken in is sealed and stored: when hardly any processor time is used.
   *
   * @throws Error when that takes more than `secondsMax`.
   */
  async atRest(secondsMax: number = REST_SECONDS_MAX): Promise<void> {
    for (let look = 0; look < secondsMax; look++) {
      const before = this.#processorTicks();
      await wait(REST_LOOK_MS);
      if (this.#processorTicks() - before <= REST_TICKS_MAX) return;
    }
    throw new Error(`the service is not at rest after ${secondsMax} seconds`);
  }

  /** Hundredths of a second, of all threads (proc_pid_stat(5): utime and stime). */
  #processorTicks(): number {
    const stat = readFileSync(`/proc/${this.#process.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[11]) + Number(fields[12]);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** As a crash does: it has no time to finish anything. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  #statusBytes(name: 'VmRSS' | 'VmHWM'): number {
    const status = readFileSync(`/proc/${this.#process.pid}/status`, 'utf8');
    const kib = new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1];
    if (kib === undefined) throw new Error(`the system does not tell ${name}`);
    return Number(kib) * 1024;
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = new Promise((resolve) => this.#process.once('exit', resolve));
      this.#process.kill(signal);
      await ended;
    }
    if (this.#ownFolder !== undefined) rmSync(this.#ownFolder, { recursive: true, force: true });
  }
}

type Addresses = Pick<ServiceProcess, 'url' | 'otlpGrpc'>;

function listeningAt(child: ChildProcess): Promise<Addresses> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      const url = /"url":"(http:[^"]+)"/.exec(text)?.[1];
      // Before the other in the same entry.
      const otlpGrpc = /"otlp_grpc":"([^"]+)"/.exec(text)?.[1];
      if (url !== undefined) resolve({ url, otlpGrpc });
    });
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${text}`)));
  });
}
