import { randomUUID } from 'node:crypto';
import {
  type FileHandle,
  link,
  open,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LOCK_BEAT_MS, LOCK_LOOK_MS, LOCK_WATCH_MS } from './limits.ts';

/** The owner of a lock. */
type Owner = {
  readonly pid: number;
  readonly host: string;
  /** ISO 8601. */
  readonly since: string;
  /** When the process started, in clock ticks since the boot; empty if the system does not say. */
  readonly processStart: string;
  /** The boot and the pid namespace in which the pid is valid; empty if the system does not say. */
  readonly pidSpace: string;
  /** Device and inode of the folder: a lock that was copied with its folder is not valid. */
  readonly folder: string;
  /** Distinguishes two locks of one process. */
  readonly nonce: string;
};

/** The period of an owner's heartbeat, and how long and how often another process watches for it. */
export type LockTiming = {
  readonly beatMs: number;
  readonly watchMs: number;
  readonly lookMs: number;
};

const TIMING: LockTiming = { beatMs: LOCK_BEAT_MS, watchMs: LOCK_WATCH_MS, lookMs: LOCK_LOOK_MS };

/** Whether a file `lock` may have this name: the lock, one that is put in its place, or who guards that. */
export function isLockName(name: string): boolean {
  return /^lock(?:\.[0-9a-f-]{8,36})*(?:\.new)?$/.test(name);
}

/** The lock belongs to another process. */
export class LockedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LockedError';
  }
}

/**
 * A lock file lets one process own a folder. The file names its owner. It is written in full under another name and
 * then linked to its own (`link` fails if the name exists), so no process reads half a lock, and of two processes that
 * try at once one succeeds.
 *
 * The lock of a dead owner is taken over. If the owner ran on this machine, since its last boot and in the same pid
 * namespace, the system says whether it is alive. Otherwise (another host or container) the lock is watched: a live
 * owner updates the file's modification time each second. An owner that was stopped for longer loses the lock, and
 * notices it at its next heartbeat.
 */
export class LockFile {
  /** Resolves when another process has taken the lock over. Never rejects. */
  readonly replaced: Promise<LockedError>;
  readonly #path: string;
  readonly #owner: Owner;
  #timer: NodeJS.Timeout | undefined;
  /** The file's modification time in seconds; only a change of it matters. */
  #timeOfFile: number;

  private constructor(path: string, owner: Owner, nowUs: number, beatMs: number) {
    this.#path = path;
    this.#owner = owner;
    this.#timeOfFile = Math.floor(nowUs / 1e6);
    this.replaced = new Promise((resolve) => {
      const beat = async (): Promise<void> => {
        const other = await this.#beat();
        if (other === undefined) return;
        clearInterval(this.#timer);
        resolve(lockedBy(path, other));
      };
      this.#timer = setInterval(() => void beat(), beatMs).unref();
    });
  }

  /** `nowUs`: microseconds since the epoch, for people. Rejects with a LockedError. */
  static async take(path: string, nowUs: number, timing = TIMING): Promise<LockFile> {
    const owner = await createOwner(process.pid, path, nowUs);
    await acquire(path, owner, timing, 0);
    return new LockFile(path, owner, nowUs, timing.beatMs);
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    if (await this.isHeld()) await rm(this.#path, { force: true });
  }

  /** Whether this lock is still valid. A lock that was lost is never valid again. */
  async isHeld(): Promise<boolean> {
    return (await readOwner(this.#path))?.nonce === this.#owner.nonce;
  }

  /** Sends a heartbeat. Resolves to the owner that has taken the lock over, if there is one. Never rejects. */
  async #beat(): Promise<Owner | undefined> {
    try {
      const owner = await readOwner(this.#path);
      if (owner !== undefined && owner.nonce !== this.#owner.nonce) return owner;
      this.#timeOfFile++;
      await utimes(this.#path, this.#timeOfFile, this.#timeOfFile);
    } catch {
      // The next heartbeat follows. A missing file has no owner.
    }
    return undefined;
  }
}

/** The holder of a lock, as its file names it. */
export type LockHolder = {
  readonly pid: number;
  readonly host: string;
  /** ISO 8601. */
  readonly since: string;
  /** False if it died without releasing the lock. */
  readonly isAlive: boolean;
};

/**
 * Finds the holder of the lock at `path`; `undefined` if there is none. Changes nothing. Takes up to LOCK_WATCH_MS for
 * a holder on another host or in another container.
 */
export async function findLockHolder(
  path: string,
  timing = TIMING,
): Promise<LockHolder | undefined> {
  const owner = await readOwner(path);
  if (owner === undefined) return undefined;
  const { pid, host, since } = owner;
  return { pid, host, since, isAlive: await isAlive(path, owner, timing) };
}

/** Depth of guards of guards: each is left by a process that died while it took over the one before. */
const GUARD_DEPTH_MAX = 8;

async function acquire(
  path: string,
  owner: Owner,
  timing: LockTiming,
  depth: number,
): Promise<void> {
  for (;;) {
    if (await place(owner, path, link)) return;
    const holder = await readOwner(path);
    if (holder === undefined) continue;
    if (depth === GUARD_DEPTH_MAX || (await isAlive(path, holder, timing)))
      throw lockedBy(path, holder);
    // Only the process that holds the guard may replace this lock, and only while it exists.
    const guard = `${path}.${holder.nonce.slice(0, 8)}`;
    await acquire(guard, owner, timing, depth + 1);
    try {
      if ((await readOwner(path))?.nonce !== holder.nonce) continue;
      await place(owner, path, rename);
      return;
    } finally {
      await rm(guard, { force: true });
    }
  }
}

/** Moves a complete lock to its path by `link` or `rename`; false if the path exists. */
async function place(owner: Owner, path: string, put: typeof link): Promise<boolean> {
  const aside = `${path}.${randomUUID()}.new`;
  try {
    await writeFile(aside, `${JSON.stringify(owner)}\n`, { mode: 0o600, flush: true });
    await put(aside, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

function lockedBy(path: string, { pid, host, since }: Owner): LockedError {
  return new LockedError(
    `the folder is in use by another weir: process ${pid} on ${host}, since ${since} (${path})`,
  );
}

/** The owner named by the lock file; `undefined` if there is no file. An unreadable lock has no live owner. */
async function readOwner(path: string): Promise<Owner | undefined> {
  return (await readLock(path))?.owner;
}

/** The owner that a lock file names, and the modification time of that same file; `undefined` if there is none. */
async function readLock(
  path: string,
): Promise<{ readonly owner: Owner; readonly mtimeMs: number } | undefined> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { mtimeMs } = await file.stat();
    return { owner: parseOwner(await file.readFile('utf8')), mtimeMs };
  } finally {
    await file.close();
  }
}

function parseOwner(text: string): Owner {
  let fields: Readonly<Record<string, unknown>> = {};
  try {
    fields = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    // The lock is of another program, or damaged: it is watched like any other.
  }
  const word = (name: string): string => String(fields[name] ?? '');
  return {
    pid: Number(fields['pid'] ?? 0),
    host: word('host'),
    since: word('since'),
    processStart: word('processStart'),
    pidSpace: word('pidSpace'),
    folder: word('folder'),
    nonce: word('nonce') || 'unknown0',
  };
}

async function isAlive(path: string, holder: Owner, timing: LockTiming): Promise<boolean> {
  const { host, pidSpace, folder } = await createOwner(process.pid, path, 0);
  if (holder.host !== host || holder.pidSpace !== pidSpace) return showsLife(path, holder, timing);
  if (holder.folder !== folder || !hasProcess(holder.pid)) return false;
  const { processStart } = await createOwner(holder.pid, path, 0);
  return processStart === holder.processStart;
}

/** Whether the lock's modification time changes while it is watched. */
async function showsLife(path: string, holder: Owner, timing: LockTiming): Promise<boolean> {
  const readTime = async (): Promise<number> => {
    const lock = await readLock(path);
    return lock?.owner.nonce === holder.nonce ? lock.mtimeMs : Number.NaN;
  };
  const before = await readTime();
  for (let waitedMs = 0; waitedMs < timing.watchMs; waitedMs += timing.lookMs) {
    await sleep(timing.lookMs);
    const now = await readTime();
    // The lock is gone or has another owner: the caller looks again.
    if (Number.isNaN(now)) return false;
    if (now !== before) return true;
  }
  return false;
}

function hasProcess(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function createOwner(pid: number, path: string, nowUs: number): Promise<Owner> {
  const stats = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name in parentheses may hold spaces; the start is the 20th field behind it (proc(5)).
  const processStart = stats.slice(stats.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  const { dev, ino } = await stat(dirname(path));
  const space = await readlink('/proc/self/ns/pid').catch(() => '');
  return {
    pid,
    host: hostname(),
    since: new Date(nowUs / 1000).toISOString(),
    processStart,
    pidSpace: `${boot.trim()} ${space}`.trim(),
    folder: `${dev}:${ino}`,
    nonce: randomUUID(),
  };
}
