import { dirname } from 'node:path';
import { type Disk, DiskError, type DiskFile, type DiskReader } from '../../ingest/disk/disk.ts';
import type { Random } from '../../src/demo/traffic/random.ts';

/** Bytes that a disk writes whole or not at all. */
const SECTOR_SIZE = 512;

type Write = { readonly offset: number; readonly bytes: Uint8Array };

/** A file as the system shows it, and as it would be found after a crash. */
type Inode = {
  /** What reads see. */
  content: Uint8Array;
  durable: Uint8Array;
  /** Written since the last sync. */
  unsynced: Write[];
};

type NameChange = { readonly path: string; readonly inode: Inode | undefined };

/** Of a hundred operations, how many fail. */
export type FaultRates = {
  readonly write: number;
  readonly sync: number;
  readonly other: number;
};

const NO_FAULTS: FaultRates = { write: 0, sync: 0, other: 0 };

/**
 * A disk that keeps its promises, and no more than these: at a crash each unsynced write is dropped,
 * kept, or torn into sectors of which any may be there, in whatever order they were written; and of
 * each folder that was not synced any of its changes of names. A folder that was made and whose own
 * name was not synced may be gone with all that is in it.
 *
 * A process that is killed leaves the machine running: the next one sees all that was written, and
 * nothing of it is more durable than it was.
 *
 * A write that fails has written some of its bytes. A sync that fails has made some of them durable,
 * and the next one forgets about the others, as Linux does.
 */
export class ModelDisk implements Disk {
  free = 2 ** 40;
  faults: FaultRates = NO_FAULTS;
  /** Called amid each operation, when the machine might die: what it would leave is there to be had. */
  onOperation: () => void = () => {};
  /** Calls of each method so far, and in which order they ended. */
  readonly journal: string[] = [];
  readonly #random: Random;
  #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  #nameChanges: NameChange[] = [];
  /** Those that were made. One that only has files in it is taken to be durable. */
  #folders = new Set<string>();
  /** Folders whose names are not durable yet. */
  #unsyncedFolders = new Set<string>();
  readonly #counts = new Map<string, number>();
  #operationsLeft = Number.POSITIVE_INFINITY;
  #hasCrashed = false;
  #tellCrash = (): void => {};
  /** Resolves at the crash. */
  readonly crashed: Promise<void>;

  constructor(random: Random) {
    this.#random = random;
    this.crashed = new Promise((resolve) => {
      this.#tellCrash = resolve;
    });
  }

  /** The machine dies within the operation after the next `count`; none ends any more. */
  crashAfter(count: number): void {
    this.#operationsLeft = count;
  }

  crashNow(): void {
    this.#hasCrashed = true;
    this.#tellCrash();
  }

  /** The disk as the machine finds it when it comes up again; another each time it is asked. */
  afterCrash(): ModelDisk {
    const disk = new ModelDisk(this.#random);
    const lost = [...this.#unsyncedFolders].filter(() => this.#random.below(2) === 0);
    const isLost = (path: string): boolean =>
      lost.some((folder) => path === folder || path.startsWith(`${folder}/`));
    for (const folder of this.#folders) if (!isLost(folder)) disk.#folders.add(folder);
    const names = new Map(this.#durableNames);
    for (const { path, inode } of this.#nameChanges) {
      if (this.#random.below(2) === 0) continue;
      if (inode === undefined) names.delete(path);
      else names.set(path, inode);
    }
    const found = new Map<Inode, Inode>();
    for (const [path, inode] of names) {
      if (isLost(path)) continue;
      if (!found.has(inode)) found.set(inode, this.#found(inode));
      disk.#names.set(path, found.get(inode)!);
      disk.#durableNames.set(path, found.get(inode)!);
    }
    return disk;
  }

  /** The disk as the next process on the machine finds it: another each time, of the same state. */
  afterKill(): ModelDisk {
    const disk = new ModelDisk(this.#random);
    const copies = new Map<Inode, Inode>();
    const copyOf = (inode: Inode): Inode => {
      const copy = copies.get(inode) ?? { ...inode, unsynced: [...inode.unsynced] };
      copies.set(inode, copy);
      return copy;
    };
    for (const [path, inode] of this.#names) disk.#names.set(path, copyOf(inode));
    for (const [path, inode] of this.#durableNames) disk.#durableNames.set(path, copyOf(inode));
    disk.#nameChanges = this.#nameChanges.map(({ path, inode }) => {
      return { path, inode: inode && copyOf(inode) };
    });
    disk.#folders = new Set(this.#folders);
    disk.#unsyncedFolders = new Set(this.#unsyncedFolders);
    return disk;
  }

  /** How often a method has succeeded on files of a folder. */
  countOf(method: 'sync' | 'remove' | 'rename', folder: string): number {
    return this.#counts.get(`${method} ${folder}`) ?? 0;
  }

  /** Paths of all files, ascending. */
  paths(): string[] {
    return [...this.#names.keys()].sort();
  }

  /** The bytes of a file, to be read and changed behind the system's back. */
  bytesOf(path: string): Uint8Array {
    return this.#inode('read', path).content;
  }

  /** Puts a file there, durable. */
  put(path: string, bytes: Uint8Array): void {
    const inode = { content: bytes, durable: bytes, unsynced: [] };
    this.#names.set(path, inode);
    this.#durableNames.set(path, inode);
  }

  async create(path: string): Promise<DiskFile> {
    await this.#operation('create', path);
    if (this.#names.has(path)) throw failure('created', path, 'EEXIST');
    const inode: Inode = { content: new Uint8Array(0), durable: new Uint8Array(0), unsynced: [] };
    this.#rename(path, inode);
    return {
      write: (parts) => this.#write(path, inode, parts),
      sync: () => this.#sync(path, inode),
      checkPlace: async () => {
        if (this.#hasCrashed) await new Promise<never>(() => {});
        if (this.#names.get(path) !== inode) throw failure('found', path, 'ENOENT');
      },
      close: async () => {},
    };
  }

  async open(path: string): Promise<DiskReader> {
    await this.#operation('open', path);
    const inode = this.#inode('opened', path);
    return {
      size: inode.content.length,
      read: async (target, offset) => {
        const bytes = inode.content.subarray(offset, offset + target.length);
        target.set(bytes);
        return bytes.length;
      },
      close: async () => {},
    };
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#operation('rename', from);
    const inode = this.#inode('renamed', from);
    this.#rename(to, inode);
    this.#rename(from, undefined);
    this.#count('rename', to);
  }

  async remove(path: string): Promise<void> {
    await this.#operation('remove', path);
    this.#inode('removed', path);
    this.#rename(path, undefined);
    this.#count('remove', path);
  }

  async truncate(path: string, size: number): Promise<void> {
    const inode = this.#inode('cut', path);
    const before = inode.durable;
    inode.content = inode.content.slice(0, size);
    // Until it has ended either is possible; afterwards all that is left is durable.
    if (this.#random.below(2) === 0) inode.durable = before.slice(0, size);
    await this.#operation('truncate', path);
    inode.durable = inode.content;
    inode.unsynced = [];
  }

  async makeFolder(path: string): Promise<void> {
    await this.#operation('makeFolder', path);
    // A folder at the top is there already, as a user's home is.
    for (let folder = path; dirname(folder) !== '/'; folder = dirname(folder)) {
      if (this.#folders.has(folder)) break;
      this.#folders.add(folder);
      this.#unsyncedFolders.add(folder);
    }
  }

  async syncFolder(path: string): Promise<void> {
    await this.#operation('syncFolder', path);
    const isIn = (name: string): boolean => dirname(name) === path;
    for (const { path: name, inode } of this.#nameChanges.filter((change) => isIn(change.path))) {
      if (inode === undefined) this.#durableNames.delete(name);
      else this.#durableNames.set(name, inode);
    }
    this.#nameChanges = this.#nameChanges.filter((change) => !isIn(change.path));
    for (const folder of [...this.#unsyncedFolders]) {
      if (isIn(folder)) this.#unsyncedFolders.delete(folder);
    }
  }

  async list(path: string): Promise<readonly string[]> {
    await this.#operation('list', path);
    const below = [...this.#names.keys(), ...this.#folders].filter((name) =>
      name.startsWith(`${path}/`),
    );
    return [...new Set(below.map((name) => name.slice(path.length + 1).split('/')[0]!))];
  }

  async freeBytes(): Promise<number> {
    return this.free;
  }

  async #write(path: string, inode: Inode, parts: readonly Uint8Array[]): Promise<void> {
    const bytes = new Uint8Array(Buffer.concat(parts));
    const isFailing = this.#random.below(100) < this.faults.write;
    // While it is under way, and when it fails, any beginning of it may have been written.
    const some = bytes.subarray(0, this.#random.below(bytes.length + 1));
    const before = inode.content;
    this.#append(inode, some);
    const index = inode.unsynced.length - 1;
    await this.#operation('write', path);
    if (isFailing) throw failure('written', path, this.#random.below(2) === 0 ? 'EIO' : 'ENOSPC');
    inode.content = before;
    inode.unsynced.splice(index, 1);
    this.#append(inode, bytes);
  }

  #append(inode: Inode, bytes: Uint8Array): void {
    inode.unsynced.push({ offset: inode.content.length, bytes });
    inode.content = new Uint8Array(Buffer.concat([inode.content, bytes]));
  }

  async #sync(path: string, inode: Inode): Promise<void> {
    const isFailing = this.#random.below(100) < this.faults.sync;
    await this.#operation('sync', path);
    if (isFailing) {
      inode.durable = this.#found(inode).durable;
      inode.unsynced = [];
      throw failure('synced', path, 'EIO');
    }
    for (const write of inode.unsynced) inode.durable = withBytes(inode.durable, write);
    inode.unsynced = [];
    this.journal.push(`synced ${inode.content.length}`);
    this.#count('sync', path);
  }

  /** What a crash leaves of a file. */
  #found(inode: Inode): Inode {
    let bytes = inode.durable;
    for (const write of inode.unsynced) {
      const fate = this.#random.below(3);
      if (fate === 0) continue;
      if (fate === 1) bytes = withBytes(bytes, write);
      else bytes = this.#torn(bytes, write);
    }
    return { content: bytes, durable: bytes, unsynced: [] };
  }

  #torn(bytes: Uint8Array, write: Write): Uint8Array {
    let torn = bytes;
    const end = write.offset + write.bytes.length;
    const isLong = this.#random.below(2) === 0;
    for (let at = write.offset; at < end; ) {
      const next = Math.min(end, (Math.floor(at / SECTOR_SIZE) + 1) * SECTOR_SIZE);
      const offset = at - write.offset;
      const sector = write.bytes.subarray(offset, offset + next - at);
      if (this.#random.below(2) === 0) torn = withBytes(torn, { offset: at, bytes: sector });
      // The size of the file may be there without what is in it.
      else if (isLong) torn = withBytes(torn, { offset: next, bytes: new Uint8Array(0) });
      at = next;
    }
    return torn;
  }

  #rename(path: string, inode: Inode | undefined): void {
    if (inode === undefined) this.#names.delete(path);
    else this.#names.set(path, inode);
    this.#nameChanges.push({ path, inode });
  }

  #count(method: string, path: string): void {
    const name = `${method} ${dirname(path)}`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  #inode(action: string, path: string): Inode {
    const inode = this.#names.get(path);
    if (inode === undefined) throw failure(action, path, 'ENOENT');
    return inode;
  }

  /** Takes a while, counts, fails, and does not come back after the crash. */
  async #operation(name: string, path: string): Promise<void> {
    for (let turns = this.#random.below(4); turns > 0; turns--) await undefined;
    if (!this.#hasCrashed) this.onOperation();
    if (--this.#operationsLeft < 0) this.crashNow();
    if (this.#hasCrashed) await new Promise<never>(() => {});
    this.journal.push(name);
    const isData = name === 'write' || name === 'sync';
    if (!isData && this.#random.below(100) < this.faults.other) throw failure(name, path, 'EIO');
  }
}

function withBytes(bytes: Uint8Array, write: Write): Uint8Array {
  const result = new Uint8Array(Math.max(bytes.length, write.offset + write.bytes.length));
  result.set(bytes);
  result.set(write.bytes, write.offset);
  return result;
}

function failure(action: string, path: string, code: string): DiskError {
  return new DiskError(action, path, Object.assign(new Error(code), { code }));
}
