import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The service in a process of its own, as a user runs it, on an empty folder and a free port. */
export class ServiceProcess {
  readonly url: string;
  readonly token: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, token: string, child: ChildProcess, folder: string) {
    this.url = url;
    this.token = token;
    this.#process = child;
    this.#folder = folder;
  }

  /** `command` is what runs main: `['dist/src/main.js']`, or with tsx before it. */
  static async start(
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<ServiceProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
    const token = 'bench-token-that-may-do-everything';
    const child = spawn(process.execPath, [...command, 'start'], {
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        DATA_DIR: folder,
        PRIVATE_ACCESS_TOKEN: token,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = await listeningUrl(child);
    return new ServiceProcess(url, token, child, folder);
  }

  /** Resident memory in bytes, as the system counts it. */
  residentBytes(): number {
    const status = readFileSync(`/proc/${this.#process.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGTERM');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function listeningUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      const url = /listens on (\S+)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${text}`)));
  });
}
