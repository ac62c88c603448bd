import type { ProfileName } from '../profile.ts';
import { DefinitionError, FILE_START } from './definition-error.ts';
import type { FolderError, FoundFile } from './definition-folder.ts';
import { type DefinitionProblem, toProblem } from './definition-problem.ts';
import type { DefinitionSet, UnboundDefinition } from './definition-set.ts';
import { readSaved, type SavedDefinition } from './saved-definition.ts';

/** What a file of the folder is to become: another definition, or none. */
export type FileChange = { readonly name: string; readonly saved: SavedDefinition | undefined };

/** Binds definitions of the folder among all others; `harm`: what could not be called then. */
type Try = (
  saved: Iterable<SavedDefinition>,
  newcomers: ReadonlySet<SavedDefinition>,
) => { readonly set: DefinitionSet; readonly harm: readonly UnboundDefinition[] };

/**
 * The definitions of `ENDPOINTS_DIR`: what its files say now, and what of it is in force. The two differ
 * while a file cannot be taken over; then its last good state stays.
 */
export class FolderFiles {
  readonly #profile: ProfileName;
  /** By the name of the file. */
  readonly #inForce = new Map<string, SavedDefinition>();
  #read: ReadonlyMap<string, { readonly found: FoundFile; readonly saved: Reading }> = new Map();
  /** Why what a file says is not in force, by its name; of the folder itself under the empty name. */
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

  /** Begins with what was in force before the last stop, as far as it can be. By the names of the files. */
  restore(kept: ReadonlyMap<string, SavedDefinition>): void {
    for (const [name, saved] of kept) this.#inForce.set(name, saved);
    this.#isSettled = false;
  }

  problems(): readonly DefinitionProblem[] {
    return [...this.#refused.values()];
  }

  /** Those that were not there, or said something else, when this was last asked. */
  newProblems(): readonly DefinitionProblem[] {
    const fresh = Array.from(this.#refused).filter(
      ([name, { reason }]) => this.#told.get(name)?.reason !== reason,
    );
    this.#told = this.#refused;
    return fresh.map(([, problem]) => problem);
  }

  /** Has `settle` look again at what is refused: what it needs may be there now. */
  tryAgain(): void {
    this.#isSettled = false;
  }

  /** Reads what was found; the messages of files that do not parse. */
  take(files: ReadonlyMap<string, FoundFile>): readonly string[] {
    const read = new Map<string, { readonly found: FoundFile; readonly saved: Reading }>();
    for (const [name, found] of files) {
      const before = this.#read.get(name);
      // One that was only touched says what it said.
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

  /** The folder itself could not be read: what is in force stays. */
  refuseFolder(error: FolderError): void {
    this.#folderError = error;
    const isServed = this.#inForce.size > 0;
    this.#refused = new Map([
      ['', { origin: 'folder', file: '', reason: error.message, isServed }],
    ]);
  }

  /** What would have to be changed so that the files are in force; those that do not parse stay as they are. */
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
   * Takes over what can be, and notes why the rest cannot. The set that is to be in force then; `undefined`
   * when nothing is to change. `among`: the one that is.
   */
  settle(attempt: Try, among: DefinitionSet): DefinitionSet | undefined {
    if (this.#folderError !== undefined) return undefined;
    // What could not be taken over may be, once other definitions have changed.
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

  /** All changes at once, but for those that are wrong in themselves; `undefined` where others would suffer. */
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

  /** One change after another, as long as any can be made that harms none. */
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
    // As it was before the last stop: the same object, which is no change.
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
    const sufferer = `${other.definition.name} could no longer be called: ${error.reason}`;
    const reason =
      saved === undefined
        ? `the file is gone, but its definition is needed: ${sufferer}`
        : `not taken over: ${sufferer}`;
    const { file, fileText } = saved ?? this.#inForce.get(name) ?? other;
    return this.#problem(name, new DefinitionError(file, fileText, FILE_START, reason));
  }

  #problem(name: string, error: DefinitionError): DefinitionProblem {
    return toProblem('folder', error, this.#inForce.has(name));
  }
}

/** What a file says, or why it says nothing. */
type Reading = SavedDefinition | DefinitionError;
