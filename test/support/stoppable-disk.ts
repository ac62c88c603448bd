import type { Disk, DiskFile, DiskReader } from '../../ingest/disk/disk.ts';

/** What a process does on disk that another process may see, or that it waits for before it answers. */
export type DiskStep =
  | 'create'
  | 'write'
  | 'sync'
  | 'checkPlace'
  | 'rename'
  | 'remove'
  | 'truncate'
  | 'makeFolder'
  | 'syncFolder'
  | 'list'
  | 'open'
  | 'read';

/**
 * The disk of a process that can be stopped, as by SIGSTOP, and continued: while it is stopped none of its steps
 * begins, and none that has ended goes on. One that is never continued was killed.
 */
export class StoppableDisk implements Disk {
  readonly #disk: Disk;
  /** Asked before and after each step; true stops the process there. */
  stopsAt: (step: DiskStep, isDone: boolean) => boolean = () => false;
  #going: Promise<void> = Promise.resolve();
  #continue: (() => void) | undefined;
  #isKilled = false;
  /** Open files. */
  readonly #handles = new Set<{ close(): Promise<void> }>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  get isStopped(): boolean {
    return this.#continue !== undefined;
  }

  stop(): void {
    if (this.isStopped) return;
    this.#going = new Promise((resolve) => {
      this.#continue = resolve;
    });
  }

  continue(): void {
    this.#continue?.();
    this.#continue = undefined;
  }

  /** Closes the files that a process leaves open when it is killed. */
  async kill(): Promise<void> {
    this.stop();
    this.#isKilled = true;
    for (const handle of this.#handles) await handle.close();
  }

  async create(path: string): Promise<DiskFile> {
    const file = await this.#opening('create', () => this.#disk.create(path));
    return {
      write: (parts) => this.#step('write', () => file.write(parts)),
      sync: () => this.#step('sync', () => file.sync()),
      checkPlace: () => this.#step('checkPlace', () => file.checkPlace()),
      close: () => this.#close(file),
    };
  }

  async open(path: string): Promise<DiskReader> {
    const reader = await this.#opening('open', () => this.#disk.open(path));
    return {
      size: reader.size,
      read: (target, offset) => this.#step('read', () => reader.read(target, offset)),
      close: () => this.#close(reader),
    };
  }

  rename(from: string, to: string): Promise<void> {
    return this.#step('rename', () => this.#disk.rename(from, to));
  }

  remove(path: string): Promise<void> {
    return this.#step('remove', () => this.#disk.remove(path));
  }

  truncate(path: string, size: number): Promise<void> {
    return this.#step('truncate', () => this.#disk.truncate(path, size));
  }

  makeFolder(path: string): Promise<void> {
    return this.#step('makeFolder', () => this.#disk.makeFolder(path));
  }

  syncFolder(path: string): Promise<void> {
    return this.#step('syncFolder', () => this.#disk.syncFolder(path));
  }

  list(path: string): Promise<readonly string[]> {
    return this.#step('list', () => this.#disk.list(path));
  }

  freeBytes(path: string): Promise<number> {
    return this.#disk.freeBytes(path);
  }

  #opening<T extends { close(): Promise<void> }>(
    step: 'create' | 'open',
    open: () => Promise<T>,
  ): Promise<T> {
    return this.#step(step, async () => {
      const handle = await open();
      this.#handles.add(handle);
      if (this.#isKilled) await handle.close();
      return handle;
    });
  }

  async #close(handle: { close(): Promise<void> }): Promise<void> {
    this.#handles.delete(handle);
    await handle.close();
  }

  async #step<T>(step: DiskStep, work: () => Promise<T>): Promise<T> {
    await this.#gate(step, false);
    try {
      return await work();
    } finally {
      await this.#gate(step, true);
    }
  }

  async #gate(step: DiskStep, isDone: boolean): Promise<void> {
    if (this.stopsAt(step, isDone)) this.stop();
    while (this.isStopped) await this.#going;
  }
}
