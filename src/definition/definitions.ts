import type { CheckedPair } from '../../ingest/checked-file.ts';
import { DiskError } from '../../ingest/disk/disk.ts';
import { SerialWork } from '../../ingest/serial-work.ts';
import { durably } from '../durably.ts';
import { ServiceError } from '../errors.ts';
import { DEFINITION_BYTES_MAX, DEPENDENTS_TOLD_MAX } from '../limits.ts';
import { formatStack, type Log } from '../log.ts';
import type { ProfileName } from '../profile.ts';
import { StartError } from '../start-error.ts';
import { Catalogue, CatalogueError, readBuiltIn } from './catalogue.ts';
import { DefinitionError, FILE_START } from './definition-error.ts';
import type { DefinitionFolder } from './definition-folder.ts';
import { FolderError } from './definition-folder.ts';
import { type DefinitionProblem, servedText, toProblem } from './definition-problem.ts';
import { decodeDefinitionText } from './definition-reading.ts';
import { DefinitionSet, type Preparing, type UnboundDefinition } from './definition-set.ts';
import type { DefinitionStore } from './definition-store.ts';
import { withVersion } from './definition-text.ts';
import type { Endpoint } from './endpoint.ts';
import { FolderFiles } from './folder-files.ts';
import type { KeptFiles } from './kept-files.ts';
import { type Origin, readSaved, type SavedDefinition } from './saved-definition.ts';

/**
 * Computes the new file of a definition from the current endpoint; `undefined` removes it. Throws
 * if the change is not allowed.
 */
export type Edit = (current: Endpoint | undefined) => string | undefined;

/** Numbers of definitions, for monitoring. */
export type DefinitionStats = {
  /** Definitions in force, by origin. */
  readonly counts: ReadonlyMap<Origin, number>;
  readonly problemCount: number;
};

export type DefinitionsOptions = {
  readonly engine: Preparing;
  readonly profile: ProfileName;
  readonly store: DefinitionStore;
  /** `ENDPOINTS_DIR`, and the folder that keeps the last good text of each of its files. */
  readonly folder: DefinitionFolder | undefined;
  readonly kept: KeptFiles;
  /** Whether an invalid file of the folder stops the start. */
  readonly isStrict: boolean;
  readonly log: Log;
  /** Called for each endpoint that was replaced or removed. */
  readonly onReplaced: (endpoint: Endpoint) => void;
};

/**
 * Owns all definitions. Changes run one after another, and each is durable before it is in force. A
 * change that would stop another definition from working is refused.
 */
export class Definitions {
  /** The definitions in force. */
  readonly catalogue = new Catalogue([]);
  readonly #options: DefinitionsOptions;
  readonly #folderFiles: FolderFiles;
  #builtIn: readonly SavedDefinition[] = [];
  /** Definitions made over HTTP, by id. Some may not be callable. */
  #stored: ReadonlyMap<string, SavedDefinition> = new Map();
  /** Files of the store that do not parse, by id. */
  readonly #unread = new Map<string, DefinitionError>();
  #set: DefinitionSet;
  readonly #changes = new SerialWork();
  /** Writes that changes do not wait for. */
  readonly #keeping = new SerialWork();
  #reloading: Promise<void> | undefined;
  #reloadingAgain: Promise<void> | undefined;

  private constructor(options: DefinitionsOptions) {
    this.#options = options;
    this.#set = new DefinitionSet([], options);
    this.#folderFiles = new FolderFiles(options.profile);
  }

  /**
   * Reads and binds all definitions. One that cannot be called becomes a problem and does not stop
   * the start; if a last good text of a file of the folder is kept, that is in force instead.
   * Definitions that were in force before keep their ids and names; a new file with one of them is
   * a problem.
   *
   * @throws CatalogueError for problems of built-in files, for an unreadable folder of which
   * nothing is kept, and in strict mode with the first problem of every file of the folder;
   * StartError when the store cannot be read.
   */
  static async open(options: DefinitionsOptions): Promise<Definitions> {
    const definitions = new Definitions(options);
    await definitions.#open();
    return definitions;
  }

  /** The current problems. */
  problems(): readonly DefinitionProblem[] {
    const unread = Array.from(this.#unread.values(), (error) => toProblem('api', error, false));
    const unbound = this.#set.problems.map(({ saved, error }) =>
      toProblem(saved.origin, error, false),
    );
    return [...unread, ...unbound, ...this.#folderFiles.problems()];
  }

  stats(): DefinitionStats {
    const counts = new Map<Origin, number>(ORIGINS.map((origin) => [origin, 0]));
    for (const { origin } of this.catalogue.list()) counts.set(origin, counts.get(origin)! + 1);
    return { counts, problemCount: this.problems().length };
  }

  /** Whether the store has a file with this id, callable or not. */
  isStored(id: string): boolean {
    return this.#stored.has(id) || this.#unread.has(id);
  }

  /**
   * Changes the definition with an id. When it resolves, the change is durable and the next call
   * sees it.
   *
   * `by` names the author in the log. Rejects with what `edit` throws, with a DefinitionError for a
   * text that cannot be called, and with a ServiceError if the change is not possible for another
   * reason; then nothing has changed.
   */
  change(id: string, edit: Edit, by: string): Promise<Endpoint | undefined> {
    return this.#changes.run(async () => {
      const current = this.catalogue.find(id);
      if (current !== undefined && current.origin !== 'api') throw readOnly(current);
      const fileText = edit(current);
      if (fileText === undefined) await this.#remove(id, by);
      else if (current === undefined || !isSameFile(fileText, current.fileText)) {
        const version = (current?.definition.version ?? 0) + 1;
        await this.#put(id, { fileText, version, by });
      }
      return this.catalogue.find(id);
    });
  }

  /**
   * Scans `ENDPOINTS_DIR` and applies valid changes. A running scan may have missed a change that
   * the caller knows of, so it is followed by one more, which all callers share.
   */
  reload(): Promise<void> {
    if (this.#reloading === undefined) {
      this.#reloading = this.#reload().finally(() => {
        this.#reloading = undefined;
      });
      return this.#reloading;
    }
    this.#reloadingAgain ??= this.#reloading.then(() => {
      this.#reloadingAgain = undefined;
      return this.reload();
    });
    return this.#reloadingAgain;
  }

  /** Binds failed definitions again. Call it when a source has been added. */
  tryAgain(): Promise<void> {
    return this.#changes.run(async () => {
      this.#folderFiles.tryAgain();
      this.#adopt(this.#bind(this.#stored, this.#folderFiles.inForce(), new Set()), this.#stored);
      this.#settleFolder();
    });
  }

  /** Resolves when no change is running. */
  async close(): Promise<void> {
    await this.#changes.settled();
    await this.#keeping.settled();
  }

  async #open(): Promise<void> {
    const { profile, folder, isStrict } = this.#options;
    this.#builtIn = await readBuiltIn(profile);
    this.#stored = await this.#readStore();
    if (isStrict) await this.#checkFolder();
    else if (folder !== undefined) await this.#restoreKept(folder);
    this.#set = this.#bind(this.#stored, this.#folderFiles.inForce(), new Set());
    if (folder !== undefined) await this.#lookFirst(folder);
    const set = this.#tryFolder() ?? this.#set;
    this.#adopt(set, this.#stored);
    this.#keepFolder();
    this.#folderFiles.newProblems();
    this.#logRefused(this.problems());
  }

  /**
   * Checks all files of the folder.
   *
   * @throws CatalogueError with the first problem of every file of the folder.
   */
  async #checkFolder(): Promise<void> {
    const { profile, folder } = this.#options;
    if (folder === undefined) return;
    const folderFiles = new FolderFiles(profile);
    let problems: readonly string[] = [];
    try {
      problems = folderFiles.take(await folder.look());
    } catch (error) {
      if (!(error instanceof FolderError)) throw error;
      problems = [error.message];
    }
    const files = folderFiles.changes().flatMap(({ saved }) => saved ?? []);
    const set = this.#bind(this.#stored, files, new Set(files));
    const unbound = set.problems.filter(({ saved }) => saved.origin !== 'api');
    problems = [...problems, ...unbound.map(({ error }) => error.message)];
    if (problems.length > 0) throw new CatalogueError(problems);
  }

  /**
   * Starts the folder from the last good text of each file. Texts that are invalid now, for example
   * without their source, are left out.
   */
  async #restoreKept(folder: DefinitionFolder): Promise<void> {
    const { kept, profile, log } = this.#options;
    const { files, damage } = await kept.read();
    for (const error of damage) log({ level: 'error', event: 'kept_definition_damaged', error });
    const restored = new Map<string, SavedDefinition>();
    for (const { file, fileText } of files) {
      const name = folder.findName(file);
      if (name === undefined) continue;
      try {
        restored.set(name, readSaved({ origin: 'folder', file, fileText }, profile));
      } catch (error) {
        if (!(error instanceof DefinitionError)) throw error;
      }
    }
    const set = this.#bind(this.#stored, restored.values(), new Set());
    const bound = [...restored].filter(([, saved]) => set.findEndpoint(saved) !== undefined);
    this.#folderFiles.restore(new Map(bound));
  }

  /**
   * Scans the folder for the first time.
   *
   * @throws CatalogueError when the folder cannot be read and nothing of it is kept, because then
   * the setting is wrong.
   */
  async #lookFirst(folder: DefinitionFolder): Promise<void> {
    try {
      this.#folderFiles.take(await folder.look());
    } catch (error) {
      if (!(error instanceof FolderError)) throw error;
      const [kept] = this.#folderFiles.inForce();
      if (kept === undefined) throw new CatalogueError([error.message]);
      this.#folderFiles.refuseFolder(error);
    }
  }

  async #readStore(): Promise<ReadonlyMap<string, SavedDefinition>> {
    const { store, profile } = this.#options;
    const files = await store.read().catch((cause: unknown): never => {
      if (!(cause instanceof DiskError)) throw cause;
      throw new StartError(`definitions cannot be read: ${cause.message}`, cause);
    });
    const stored = new Map<string, SavedDefinition>();
    for (const [id, pair] of files) {
      const file = store.formatPath(id);
      try {
        const fileText = decodeDefinitionText(file, mustFindBytes(file, pair));
        const saved = readSaved({ origin: 'api', file, fileText }, profile);
        checkId(saved, id);
        stored.set(id, saved);
        await this.#repair(id, fileText, pair);
      } catch (error) {
        if (!(error instanceof DefinitionError)) throw error;
        this.#unread.set(id, error);
      }
    }
    return stored;
  }

  /** Rewrites a file and its copy unless both are intact. The next start repairs what fails now. */
  async #repair(id: string, fileText: string, pair: CheckedPair): Promise<void> {
    const { store, log } = this.#options;
    if (pair.kind === 'whole' && pair.isPaired) return;
    if (pair.kind === 'whole' && pair.isDamaged) {
      log({ level: 'error', event: 'definition_file_repaired', file: store.formatPath(id) });
    }
    await store.write(id, fileText).catch((error: unknown) => {
      if (!(error instanceof DiskError)) throw error;
    });
  }

  /** Binds a set. Definitions in force come first, so they keep their ids and names. */
  #bind(
    stored: ReadonlyMap<string, SavedDefinition>,
    files: Iterable<SavedDefinition>,
    newcomers: ReadonlySet<SavedDefinition>,
  ): DefinitionSet {
    const computeRank = (saved: SavedDefinition): number => {
      if (newcomers.has(saved)) return 2;
      return this.#set.findEndpoint(saved) === undefined ? 1 : 0;
    };
    const others = [...stored.values(), ...files];
    others.sort((left, right) => computeRank(left) - computeRank(right));
    return new DefinitionSet([...this.#builtIn, ...others], {
      engine: this.#options.engine,
      after: this.#set,
    });
  }

  /** Lists the new problems of a set, among new definitions and those in force. */
  #listHarm(
    set: DefinitionSet,
    newcomers: ReadonlySet<SavedDefinition>,
  ): readonly UnboundDefinition[] {
    return set.problems.filter(
      ({ saved }) => newcomers.has(saved) || this.#set.findEndpoint(saved) !== undefined,
    );
  }

  /**
   * Applies a change.
   *
   * @throws DefinitionError for the text itself, ServiceError for what it would break.
   */
  async #put(
    id: string,
    next: { readonly fileText: string; readonly version: number; readonly by: string },
  ): Promise<void> {
    const { store, profile } = this.#options;
    const { fileText, version } = next;
    const kept = withVersion(fileText, version);
    checkSize(kept);
    const read = readSaved({ origin: 'api', file: store.formatPath(id), fileText }, profile);
    const saved = { ...read, definition: { ...read.definition, version } };
    checkId(saved, id);
    const stored = new Map(this.#stored).set(id, saved);
    const set = this.#bind(stored, this.#folderFiles.inForce(), new Set([saved]));
    const harm = this.#listHarm(set, new Set([saved]));
    const own = harm.find((problem) => problem.saved === saved);
    if (own !== undefined) throw own.error;
    checkHarmless(harm);
    await durably('the change', () => store.write(id, kept));
    this.#unread.delete(id);
    this.#adopt(set, stored, next.by);
  }

  async #remove(id: string, by: string): Promise<void> {
    const stored = new Map(this.#stored);
    stored.delete(id);
    const set = this.#bind(stored, this.#folderFiles.inForce(), new Set());
    checkHarmless(this.#listHarm(set, new Set()));
    await durably('the change', () => this.#options.store.remove(id));
    this.#unread.delete(id);
    this.#adopt(set, stored, by);
  }

  async #reload(): Promise<void> {
    const { folder } = this.#options;
    if (folder === undefined) return;
    // A slow folder must not delay changes.
    const found = await folder.look().catch((error: unknown): FolderError => {
      if (error instanceof FolderError) return error;
      throw error;
    });
    await this.#changes.run(async () => {
      if (found instanceof FolderError) this.#folderFiles.refuseFolder(found);
      else this.#folderFiles.take(found);
      this.#settleFolder();
    });
  }

  /** Applies the changes in the folder's files that break no other definition. */
  #settleFolder(): void {
    const set = this.#tryFolder();
    if (set !== undefined) {
      this.#adopt(set, this.#stored);
      this.#keepFolder();
    }
    this.#logRefused(this.#folderFiles.newProblems());
  }

  /** The set with all applicable changes of the folder; `undefined` without any. */
  #tryFolder(): DefinitionSet | undefined {
    return this.#folderFiles.settle((saved, newcomers) => {
      const bound = this.#bind(this.#stored, saved, newcomers);
      return { set: bound, harm: this.#listHarm(bound, newcomers) };
    }, this.#set);
  }

  /** Keeps the folder's definitions in force for the next start, without waiting for the disk. */
  #keepFolder(): void {
    const { folder, kept, log } = this.#options;
    if (folder === undefined) return;
    const files = [...this.#folderFiles.inForce()];
    const work = this.#keeping.run(() => kept.keep(files));
    work.catch((error: unknown) => {
      log({ level: 'error', event: 'definitions_not_kept', error: formatStack(error) });
    });
  }

  #logRefused(problems: readonly DefinitionProblem[]): void {
    for (const { file, line, column, caret, isServed, reason } of problems) {
      const place = { file, line, column, caret, served: servedText(isServed) };
      this.#options.log({ level: 'error', event: 'definition_refused', ...place, error: reason });
    }
  }

  /** Puts a set in force. `by` names the author of a change of the store. */
  #adopt(set: DefinitionSet, stored: ReadonlyMap<string, SavedDefinition>, by?: string): void {
    const before = this.catalogue.list();
    this.#set = set;
    this.#stored = stored;
    this.catalogue.replace([...set.endpoints].sort(byOriginAndName));
    for (const endpoint of before) {
      if (this.catalogue.find(endpoint.definition.id) === endpoint) continue;
      this.#options.onReplaced(endpoint);
    }
    if (before.length > 0) this.#logChanges(before, by);
  }

  #logChanges(before: readonly Endpoint[], by: string | undefined): void {
    const tell = (change: string, { definition, origin }: Endpoint): void => {
      const { id, name, version } = definition;
      const event = `definition_${change}`;
      this.#options.log({ level: 'info', event, origin, id, name, version, by });
    };
    const known = new Map(before.map((endpoint) => [endpoint.definition.id, endpoint.definition]));
    for (const endpoint of this.catalogue.list()) {
      const was = known.get(endpoint.definition.id);
      if (was === undefined) tell('added', endpoint);
      else if (was !== endpoint.definition) tell('changed', endpoint);
      known.delete(endpoint.definition.id);
    }
    for (const endpoint of before) {
      if (known.has(endpoint.definition.id)) tell('removed', endpoint);
    }
  }
}

const ORIGINS: readonly Origin[] = ['built-in', 'folder', 'api'];

function byOriginAndName(left: Endpoint, right: Endpoint): number {
  const order = ORIGINS.indexOf(left.origin) - ORIGINS.indexOf(right.origin);
  if (order !== 0) return order;
  return left.definition.name < right.definition.name ? -1 : 1;
}

/** Whether two texts are equal except for their versions. */
function isSameFile(left: string, right: string): boolean {
  return withVersion(left, 1) === withVersion(right, 1);
}

function readOnly({ definition: { name }, origin }: Endpoint): ServiceError {
  const where = origin === 'folder' ? 'is a file of ENDPOINTS_DIR' : 'is part of the service';
  return new ServiceError(
    'definition_read_only',
    `${name} ${where} and can only be changed there; definitions made over HTTP can be changed here`,
  );
}

/**
 * Refuses a file that would be too large to read again.
 *
 * @throws ServiceError
 */
function checkSize(fileText: string): void {
  const byteSize = Buffer.byteLength(fileText);
  if (byteSize <= DEFINITION_BYTES_MAX) return;
  throw new ServiceError(
    'body_too_large',
    `the file of a definition has at most ${DEFINITION_BYTES_MAX} bytes; got ${byteSize}`,
  );
}

/**
 * Returns the intact bytes of the file or its copy.
 *
 * @throws DefinitionError when neither is intact.
 */
function mustFindBytes(file: string, pair: CheckedPair): Uint8Array {
  if (pair.kind === 'whole' || pair.kind === 'old') return pair.body;
  const reason =
    'a definition must match its checksum; this file and its copy are damaged: create it again, or remove it';
  throw new DefinitionError(file, '', FILE_START, reason);
}

/** @throws DefinitionError when the id in the text differs from the id of the file. */
function checkId(saved: SavedDefinition, id: string): void {
  const got = saved.definition.id;
  if (got === id) return;
  const reason = `id must be ${id}, under which the definition is stored; got ${got}`;
  throw new DefinitionError(saved.file, saved.fileText, saved.getPosition('id'), reason);
}

/** @throws ServiceError when other definitions would stop working. */
function checkHarmless(harm: readonly UnboundDefinition[]): void {
  if (harm.length === 0) return;
  const told = harm.slice(0, DEPENDENTS_TOLD_MAX);
  const reasons = told.map(({ saved, error }) => `${saved.definition.name}: ${error.reason}`);
  const rest = harm.length - told.length;
  const more = rest === 0 ? '' : `; and ${rest} more`;
  throw new ServiceError(
    'definition_in_use',
    `other definitions would stop working: ${reasons.join('; ')}${more}`,
  );
}
