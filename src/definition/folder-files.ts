import type { ProfileName } from '../profile.ts';
import { DefinitionError, FILE_START } from './definition-error.ts';
import type { FolderError, FoundFile } from './definition-folder.ts';
import { type DefinitionProblem, toProblem } from './definition-problem.ts';
import type { DefinitionSet, UnboundDefinition } from './definition-set.ts';
import { readSaved, type SavedDefinition } from './saved-definition.ts';

/** A change of a file: its new definition, or `undefined` if it is removed. */
export type FileChange = { readonly name: string; readonly saved: SavedDefinition | undefined };

/** Binds definitions of the folder among all others. `harm` lists those that would stop working. */
type Try = (
  saved: Iterable<SavedDefinition>,
  newcomers: ReadonlySet<SavedDefinition>,
) => { readonly set: DefinitionSet; readonly harm: readonly UnboundDefinition[] };

/**
 * The definitions of `ENDPOINTS_DIR`: the contents of the files, and what is in force. The two
 * differ while a file cannot be applied; its last good version then stays.
 */
export class FolderFiles {
  readonly #profile: ProfileName;
  /** Definitions in force by file name. */
  readonly #inForce = new Map<string, SavedDefinition>();
  #read: ReadonlyMap<string, { readonly found: FoundFile; readonly saved: Reading }> = new Map();
  /**
   * Why the contents of a file are not in force, by its name; the folder's own problem has an empty
   * name.
   */
  #refused: ReadonlyMap<string, DefinitionProblem> = new Map();
  #told: ReadonlyMap<string, DefinitionProblem> = new Map();
  #folderError: FolderError | undefined;
  #isSettled = true;
  #settledAmong: DefinitionSet | undefined;

  constructor(profile: ProfileName) {
    this.#profile = profile;
  }

  inForce(): Iterable<SavedDefinition> {
    return this.#inForce.values();
  }

  /**
   * Starts from what was in force before the last stop, as far as possible. The keys are file
   * names.
   */
  restore(kept: ReadonlyMap<string, SavedDefinition>): void {
    for (const [name, saved] of kept) this.#inForce.set(name, saved);
    this.#isSettled = false;
  }

  problems(): readonly DefinitionProblem[] {
    return [...this.#refused.values()];
  }

  /** Problems that are new or different since the last call. */
  newProblems(): readonly DefinitionProblem[] {
    const fresh = Array.from(this.#refused).filter(
      ([name, { reason }]) => this.#told.get(name)?.reason !== reason,
    );
    this.#told = this.#refused;
    return fresh.map(([, problem]) => problem);
  }

  /** Makes `settle` try refused files again, because what they need may exist now. */
  tryAgain(): void {
    this.#isSettled = false;
  }

  /** Takes the files found by a scan. Returns the messages of those that do not parse. */
  take(files: ReadonlyMap<string, FoundFile>): readonly string[] {
    const read = new Map<string, { readonly found: FoundFile; readonly saved: Reading }>();
    for (const [name, found] of files) {
      const before = this.#read.get(name);
      // A file whose time changed may have the same text.
      const isSame = before !== undefined && before.found.text === found.text;
      if (isSame) read.set(name, before);
      else {
        read.set(name, { found, saved: this.#readFile(name, found) });
        this.#isSettled = false;
      }
    }
    if (read.size !== this.#read.size || this.#folderError !== undefined) this.#isSettled = false;
    this.#folderError = undefined;
    this.#read = read;
    return [...read.values()].flatMap(({ saved }) =>
      saved instanceof DefinitionError ? [saved.message] : [],
    );
  }

  /** Notes that the folder cannot be read. What is in force stays. */
  refuseFolder(error: FolderError): void {
    this.#folderError = error;
    const isServed = this.#inForce.size > 0;
    this.#refused = new Map([
      ['', { origin: 'folder', file: '', reason: error.message, isServed }],
    ]);
  }

  /**
   * The changes that would bring the files in force. Files that do not parse keep their version in
   * force.
   */
  changes(): readonly FileChange[] {
    const changes: FileChange[] = [];
    for (const [name, { saved }] of this.#read) {
      if (saved instanceof DefinitionError || saved === this.#inForce.get(name)) continue;
      changes.push({ name, saved });
    }
    for (const name of this.#inForce.keys()) {
      if (!this.#read.has(name)) changes.push({ name, saved: undefined });
    }
    return changes;
  }

  accept(changes: readonly FileChange[]): void {
    for (const { name, saved } of changes) {
      if (saved === undefined) this.#inForce.delete(name);
      else this.#inForce.set(name, saved);
    }
  }

  /**
   * Applies what can be applied, and notes why the rest cannot. Returns the set to put in force, or
   * `undefined` without a change. `among` is the current set.
   */
  settle(attempt: Try, among: DefinitionSet): DefinitionSet | undefined {
    if (this.#folderError !== undefined) return undefined;
    // A refused change may become possible once other definitions have changed.
    const isSame = this.#settledAmong === among || this.#refused.size === 0;
    if (this.#isSettled && isSame) return undefined;
    const refused = new Map<string, DefinitionProblem>();
    for (const [name, { saved }] of this.#read) {
      if (saved instanceof DefinitionError) refused.set(name, this.#problem(name, saved));
    }
    const set = this.#takeTogether(attempt, refused) ?? this.#takeByTurns(attempt, refused);
    this.#refused = refused;
    this.#isSettled = true;
    this.#settledAmong = set ?? among;
    return set;
  }

  /**
   * Tries all changes at once, except those with errors of their own; `undefined` if others would
   * stop working.
   */
  #takeTogether(attempt: Try, refused: Map<string, DefinitionProblem>): DefinitionSet | undefined {
    for (let changes = this.changes(); changes.length > 0; ) {
      const { set, harm } = this.#try(attempt, changes);
      if (harm.length === 0) {
        this.accept(changes);
        return set;
      }
      const wrong = new Map(harm.map(({ saved, error }) => [saved, error] as const));
      const rest = changes.filter(({ name, saved }) => {
        const error = saved && wrong.get(saved);
        if (error !== undefined) refused.set(name, this.#problem(name, error));
        return error === undefined;
      });
      if (rest.length === changes.length) return undefined;
      changes = rest;
    }
    return undefined;
  }

  /** Tries one change after another, while any can be made without harm. */
  #takeByTurns(attempt: Try, refused: Map<string, DefinitionProblem>): DefinitionSet | undefined {
    let last: DefinitionSet | undefined;
    let changes = this.changes();
    for (let hasMoved = true; hasMoved; ) {
      hasMoved = false;
      for (const change of changes) {
        const { set, harm } = this.#try(attempt, [change]);
        const worst = harm.find(({ saved }) => saved === change.saved) ?? harm[0];
        if (worst !== undefined) {
          refused.set(change.name, this.#createRefusal(change, worst));
          continue;
        }
        this.accept([change]);
        refused.delete(change.name);
        last = set;
        hasMoved = true;
      }
      changes = this.changes();
    }
    return last;
  }

  #try(attempt: Try, changes: readonly FileChange[]): ReturnType<Try> {
    const files = new Map<string, SavedDefinition | undefined>(this.#inForce);
    for (const { name, saved } of changes) files.set(name, saved);
    const saved = [...files.values()].flatMap((each) => each ?? []);
    return attempt(saved, new Set(changes.flatMap((change) => change.saved ?? [])));
  }

  #readFile(name: string, { file, text }: FoundFile): Reading {
    if (typeof text !== 'string') return text;
    const inForce = this.#inForce.get(name);
    // The unchanged file of before the last stop keeps its object, so that it does not count as a
    // change.
    if (inForce?.file === file && inForce.fileText === text) return inForce;
    try {
      return readSaved({ origin: 'folder', file, fileText: text }, this.#profile);
    } catch (error) {
      if (error instanceof DefinitionError) return error;
      throw error;
    }
  }

  #createRefusal(
    { name, saved }: FileChange,
    { saved: other, error }: UnboundDefinition,
  ): DefinitionProblem {
    if (other === saved) return this.#problem(name, error);
    const sufferer = `${other.definition.name} would stop working: ${error.reason}`;
    const reason =
      saved === undefined
        ? `the file was removed, but another definition needs it: ${sufferer}`
        : `not in force, because of another definition: ${sufferer}`;
    const { file, fileText } = saved ?? this.#inForce.get(name) ?? other;
    return this.#problem(name, new DefinitionError(file, fileText, FILE_START, reason));
  }

  #problem(name: string, error: DefinitionError): DefinitionProblem {
    return toProblem('folder', error, this.#inForce.has(name));
  }
}

/** The definition in a file, or why it has none. */
type Reading = SavedDefinition | DefinitionError;
