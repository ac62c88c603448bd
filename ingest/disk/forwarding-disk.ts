import type { Disk, DiskFile, DiskReader } from './disk.ts';

/** A disk that forwards each call to another one. Subclasses override what they change. */
export abstract class ForwardingDisk implements Disk {
  protected readonly below: Disk;

  constructor(below: Disk) {
    this.below = below;
  }

  create(path: string): Promise<DiskFile> {
    return this.below.create(path);
  }

  open(path: string): Promise<DiskReader> {
    return this.below.open(path);
  }

  rename(from: string, to: string): Promise<void> {
    return this.below.rename(from, to);
  }

  remove(path: string): Promise<void> {
    return this.below.remove(path);
  }

  truncate(path: string, size: number): Promise<void> {
    return this.below.truncate(path, size);
  }

  makeFolder(path: string): Promise<void> {
    return this.below.makeFolder(path);
  }

  syncFolder(path: string): Promise<void> {
    return this.below.syncFolder(path);
  }

  list(path: string): Promise<readonly string[]> {
    return this.below.list(path);
  }

  freeBytes(path: string): Promise<number> {
    return this.below.freeBytes(path);
  }
}
