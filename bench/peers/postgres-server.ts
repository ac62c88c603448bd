import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** Where Debian has it. */
const BINARIES = '/usr/lib/postgresql/15/bin';

/** Debian's user for it: PostgreSQL does not run as root. */
const USER = 'postgres';

const START_MS_MAX = 60_000;

/** A quarter of 16 to 24 GB for its own pages, as its manual advises; the rest is the system's to cache. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  shared_buffers: '4GB',
  effective_cache_size: '12GB',
  work_mem: '256MB',
  maintenance_work_mem: '2GB',
  random_page_cost: '1.1',
  effective_io_concurrency: '200',
  max_parallel_workers_per_gather: '2',
  max_parallel_maintenance_workers: '2',
  max_wal_size: '16GB',
  // What is copied into a table of the same transaction is synced at its end, and not logged.
  wal_level: 'minimal',
  max_wal_senders: '0',
  checkpoint_timeout: '30min',
  wal_compression: 'lz4',
  default_toast_compression: 'lz4',
};

/** A PostgreSQL of ours, in a folder of its own, that is reached through a socket in a folder. */
export class PostgresServer {
  readonly socketFolder: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, socketFolder: string) {
    this.#process = process;
    this.socketFolder = socketFolder;
  }

  static isInstalled(): boolean {
    return existsSync(join(BINARIES, 'postgres'));
  }

  static version(): string {
    const text = execFileSync(join(BINARIES, 'postgres'), ['--version'], { encoding: 'utf8' });
    return /\) (\S+)/.exec(text)?.[1] ?? text.trim();
  }

  /** Begins with an empty database where the folder has none. */
  static async start(folder: string): Promise<PostgresServer> {
    const data = join(folder, 'data');
    const identity = identityOf();
    if (!existsSync(join(data, 'PG_VERSION'))) {
      mkdirSync(data, { recursive: true });
      if (identity !== undefined) {
        chownSync(data, identity.uid, identity.gid);
        letThrough([dirname(folder), folder]);
      }
      execFileSync(join(BINARIES, 'initdb'), INITDB.concat(data), {
        ...identity,
        cwd: data,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    }
    const socketFolder = mkdtempSync(join(tmpdir(), 'weir-postgres-'));
    chmodSync(socketFolder, 0o700);
    if (identity !== undefined) chownSync(socketFolder, identity.uid, identity.gid);
    const options = { ...SETTINGS, unix_socket_directories: socketFolder };
    const settings = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(join(BINARIES, 'postgres'), ['-D', data, ...settings], {
      ...identity,
      cwd: data,
      stdio: 'ignore',
    });
    const server = new PostgresServer(child, socketFolder);
    await server.#untilReady();
    return server;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null) {
      const exit = once(this.#process, 'exit');
      // "Fast": open connections are ended, and a checkpoint is written.
      this.#process.kill('SIGINT');
      await exit;
    }
    rmSync(this.socketFolder, { recursive: true, force: true });
  }

  async #untilReady(): Promise<void> {
    const endMs = performance.now() + START_MS_MAX;
    while (!this.#isReady()) {
      if (this.#process.exitCode !== null || performance.now() > endMs) {
        throw new Error('PostgreSQL did not start');
      }
      await wait(50);
    }
  }

  #isReady(): boolean {
    try {
      execFileSync(join(BINARIES, 'pg_isready'), ['-q', '-h', this.socketFolder]);
      return true;
    } catch {
      return false;
    }
  }
}

const INITDB = ['--username=postgres', '--encoding=UTF8', '--locale=C', '--auth=trust', '-D'];

/** Who to run as; nothing to change where we are not root ourselves. */
function identityOf(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string) => Number(execFileSync('id', [flag, USER], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** Temporary folders are closed to others, so that the user could not get at what is its own. */
function letThrough(folders: readonly string[]): void {
  for (const folder of folders) chmodSync(folder, statSync(folder).mode | 0o011);
}
