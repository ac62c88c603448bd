import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a memory cgroup, by the version of cgroups (cgroups(7), and the kernel's documents that it names). */
type GroupFiles = {
  readonly limit: string;
  /** Bounds memory and swap: what is swapped out must not hide what is held. */
  readonly swapLimit: string;
  readonly swapBytesMax: (bytesMax: number) => number;
  /** Has a line `oom_kill` with the number of processes that the kernel has killed for the limit. */
  readonly events: string;
};

const FILES_1: GroupFiles = {
  limit: 'memory.limit_in_bytes',
  swapLimit: 'memory.memsw.limit_in_bytes',
  swapBytesMax: (bytesMax) => bytesMax,
  events: 'memory.oom_control',
};

const FILES_2: GroupFiles = {
  limit: 'memory.max',
  swapLimit: 'memory.swap.max',
  swapBytesMax: () => 0,
  events: 'memory.events',
};

/**
 * A cgroup below that of this process, whose processes together have at most so much memory: the kernel kills one of
 * them where they need more.
 */
export class MemoryGroup {
  readonly #folder: string;
  readonly #files: GroupFiles;

  private constructor(folder: string, files: GroupFiles) {
    this.#folder = folder;
    this.#files = files;
  }

  /** `undefined` where this user may make none, or the system has no memory cgroups. */
  static make(bytesMax: number): MemoryGroup | undefined {
    const own = ownGroup();
    if (own === undefined) return undefined;
    const { files } = own;
    const folder = join(own.folder, `weir-${process.pid}-${performance.now().toFixed(0)}`);
    try {
      mkdirSync(folder);
    } catch {
      return undefined;
    }
    const group = new MemoryGroup(folder, files);
    try {
      // The kernel makes the files of a group. Where memory is not bounded below this group, there is no such file.
      writeFileSync(join(folder, files.limit), String(bytesMax), { flag: 'r+' });
      const swapLimit = join(folder, files.swapLimit);
      if (existsSync(swapLimit)) writeFileSync(swapLimit, String(files.swapBytesMax(bytesMax)));
      return group;
    } catch {
      group.remove();
      return undefined;
    }
  }

  /** What runs Node in this group from its first instruction on. */
  get nodeWords(): readonly string[] {
    const enter = 'echo $$ > "$0" && exec "$@"';
    return ['/bin/sh', '-c', enter, join(this.#folder, 'cgroup.procs'), process.execPath];
  }

  /** How many processes the kernel has killed because the group had no more memory. */
  killedCount(): number {
    const text = readFileSync(join(this.#folder, this.#files.events), 'utf8');
    const count = /^oom_kill (\d+)$/m.exec(text)?.[1];
    if (count === undefined)
      throw new Error(`${this.#files.events} must have oom_kill; got ${text}`);
    return Number(count);
  }

  /** Its processes must have ended. */
  remove(): void {
    rmdirSync(this.#folder);
  }
}

/** The memory cgroup of this process: of version 1 where memory belongs to it. */
function ownGroup(): { readonly folder: string; readonly files: GroupFiles } | undefined {
  if (!existsSync('/proc/self/cgroup')) return undefined;
  const text = readFileSync('/proc/self/cgroup', 'utf8');
  const path1 = /^\d+:memory:(.*)$/m.exec(text)?.[1];
  if (path1 !== undefined) return { folder: join('/sys/fs/cgroup/memory', path1), files: FILES_1 };
  const path2 = /^0::(.*)$/m.exec(text)?.[1];
  if (path2 === undefined) return undefined;
  return { folder: join('/sys/fs/cgroup', path2), files: FILES_2 };
}
