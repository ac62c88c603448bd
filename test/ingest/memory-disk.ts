import { basename, dirname } from 'node:path';
import { type Disk, DiskError, type DiskFile, type DiskReader } from '../../ingest/disk/disk.ts';

/** The process is no more. */
export class Crash extends Error {}

type Contents = { bytes: Buffer; syncedSize: number };

/** Thrown by `before` of a disk to make a step fail as a disk fails. */
export function diskError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/**
 * A disk of names and bytes. What names there are is durable folder by folder; of the changes since a
 * folder was synced a crash keeps whatever the dice say, and of bytes not synced any part.
 */
export class MemoryDisk implements Disk {
  /** Called before each step that changes something; what it throws is what becomes of the step. */
  before: (step: string) => void = () => {};
  readonly steps: string[] = [];
  #files = new Map<string, Contents>();
  #durable = new Map<string, Contents>();

  paths(): string[] {
    return [...this.#files.keys()].sort();
  }

  bytesOf(path: string): Buffer {
    return this.#files.get(path)!.bytes;
  }

  put(path: string, bytes: Uint8Array): void {
    const contents = { bytes: Buffer.from(bytes), syncedSize: bytes.length };
    this.#files.set(path, contents);
    this.#durable.set(path, contents);
  }

  /** The disk as a new process finds it. `chance` is asked for each change that may be lost. */
  afterCrash(chance: () => boolean): MemoryDisk {
    const disk = new MemoryDisk();
    for (const path of new Set([...this.#files.keys(), ...this.#durable.keys()])) {
      const kept = chance() ? this.#files.get(path) : this.#durable.get(path);
      if (kept === undefined) continue;
      disk.put(path, chance() ? kept.bytes : kept.bytes.subarray(0, kept.syncedSize));
    }
    return disk;
  }

  async create(path: string): Promise<DiskFile> {
    this.#step(`create ${basename(path)}`, path);
    if (this.#files.has(path)) throw new DiskError('created', path, diskError('EEXIST'));
    const contents = { bytes: Buffer.alloc(0), syncedSize: 0 };
    this.#files.set(path, contents);
    return {
      write: async (parts) => {
        this.#step(`write ${basename(path)}`, path);
        contents.bytes = Buffer.concat([contents.bytes, ...parts]);
      },
      sync: async () => {
        this.#step(`sync ${basename(path)}`, path);
        contents.syncedSize = contents.bytes.length;
      },
      checkPlace: async () => {
        if (this.#files.get(path) === contents) return;
        throw new DiskError('found', path, diskError('ENOENT'));
      },
      close: async () => {},
    };
  }

  async open(path: string): Promise<DiskReader> {
    const contents = this.#files.get(path);
    if (contents === undefined) throw new DiskError('opened', path, diskError('ENOENT'));
    const { bytes } = contents;
    return {
      size: bytes.length,
      read: async (target, offset) => {
        this.#refuse(`read ${offset}`, path);
        return bytes.copy(target, 0, offset, Math.min(bytes.length, offset + target.length));
      },
      close: async () => {},
    };
  }

  async rename(from: string, to: string): Promise<void> {
    this.#step(`rename ${basename(from)}`, from);
    this.#files.set(to, this.#files.get(from)!);
    this.#files.delete(from);
  }

  async remove(path: string): Promise<void> {
    this.#step(`remove ${basename(path)}`, path);
    if (!this.#files.delete(path)) throw new DiskError('removed', path, diskError('ENOENT'));
  }

  async truncate(path: string, size: number): Promise<void> {
    const contents = this.#files.get(path)!;
    contents.bytes = contents.bytes.subarray(0, size);
  }

  async makeFolder(): Promise<void> {}

  async syncFolder(path: string): Promise<void> {
    this.#step(`sync folder ${basename(path)}`, path);
    for (const name of this.#durable.keys()) {
      if (dirname(name) === path && !this.#files.has(name)) this.#durable.delete(name);
    }
    for (const [name, contents] of this.#files) {
      if (dirname(name) === path) this.#durable.set(name, contents);
    }
  }

  async list(path: string): Promise<readonly string[]> {
    const names = [...this.#files.keys()].filter((name) => name.startsWith(`${path}/`));
    return [...new Set(names.map((name) => name.slice(path.length + 1).split('/')[0]!))];
  }

  async freeBytes(): Promise<number> {
    return 2 ** 40;
  }

  #step(step: string, path: string): void {
    this.steps.push(step);
    this.#refuse(step, path);
  }

  #refuse(step: string, path: string): void {
    try {
      this.before(step);
    } catch (error) {
      throw error instanceof Crash ? error : new DiskError('used', path, error);
    }
  }
}
