import { mkdir, readdir, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode, systemReason } from '../../ingest/system-reason.ts';
import { writeFileAtomically } from '../atomic-file.ts';
import { DefinitionError } from '../definition/definition-error.ts';
import { DEFINITION_ENDING, readDefinitionFile } from '../definition/definition-reading.ts';
import { DEFINITIONS_MAX } from '../limits.ts';
import { systemSentence } from '../start-error.ts';
import { CommandFailure } from './command.ts';
import { type DefinitionCopy, readCopy, sentText } from './definition-copy.ts';
import type { DefinitionSide, SideProblem, SideState } from './definition-side.ts';

/** A folder of definition files. Other files in it are ignored. */
export class FolderSide implements DefinitionSide {
  readonly where: string;
  readonly #folder: string;
  /** Whether the folder must exist. */
  readonly #isNeeded: boolean;
  /**
   * All names in the folder in lower case, because some file systems do not distinguish `A.sql`
   * from `a.sql`.
   */
  #taken: ReadonlySet<string> = new Set();

  constructor(folder: string, { isNeeded }: { readonly isNeeded: boolean }) {
    this.#folder = folder;
    this.#isNeeded = isNeeded;
    this.where = `in ${folder}`;
  }

  async read(): Promise<SideState> {
    const all = await this.#names();
    this.#taken = new Set(all.map((name) => name.toLowerCase()));
    const names = all.filter((name) => name.endsWith(DEFINITION_ENDING)).sort();
    if (names.length > DEFINITIONS_MAX) {
      throw new CommandFailure(
        `a folder may have at most ${DEFINITIONS_MAX} definitions; got ${names.length}`,
      );
    }
    const problems: SideProblem[] = [];
    const copies = new Map<string, DefinitionCopy>();
    for (const name of names) {
      const copy = await this.#readFile(join(this.#folder, name));
      const other = copy instanceof DefinitionError ? undefined : copies.get(copy.id);
      if (copy instanceof DefinitionError) problems.push({ message: copy.message });
      else if (other === undefined) copies.set(copy.id, copy);
      else problems.push({ message: `${copy.place} has the id of ${other.place}, ${copy.id}` });
    }
    return { copies: [...copies.values()], fixed: [], problems };
  }

  findObstacle({ name, place }: DefinitionCopy): string | undefined {
    if (!this.#taken.has(fileName(name).toLowerCase())) return undefined;
    return `${place}: ${this.#formatPath(name)} is there already, and is another`;
  }

  async put(copy: DefinitionCopy, before: DefinitionCopy | undefined): Promise<void> {
    const text = sentText(copy);
    await onDisk(async () => {
      if (before !== undefined) {
        await this.#checkSame(before);
        // A link stays a link, and the file keeps its permissions.
        const path = await realpath(before.place);
        const mode = (await stat(path)).mode & MODE_MASK;
        return writeFileAtomically(path, text, { mode, isExact: true });
      }
      await mkdir(this.#folder, { recursive: true });
      const path = this.#formatPath(copy.name);
      const taken = (await readdir(this.#folder)).map((name) => name.toLowerCase());
      if (taken.includes(fileName(copy.name).toLowerCase())) {
        throw new CommandFailure(`${path} was created after the folder was read`);
      }
      return writeFileAtomically(path, text, { mode: NEW_FILE_MODE, isExact: false });
    });
  }

  async remove(before: DefinitionCopy): Promise<void> {
    await onDisk(async () => {
      await this.#checkSame(before);
      await rm(before.place);
    });
  }

  async #names(): Promise<readonly string[]> {
    try {
      return await readdir(this.#folder);
    } catch (cause) {
      const code = systemCode(cause);
      if (code === undefined) throw cause;
      if (code === 'ENOENT' && !this.#isNeeded) return [];
      throw new CommandFailure(
        `${this.#folder} must be a folder that can be read: ${systemReason(cause)}`,
        cause,
      );
    }
  }

  async #readFile(path: string): Promise<DefinitionCopy | DefinitionError> {
    try {
      return readCopy(path, await readDefinitionFile(path));
    } catch (error) {
      if (error instanceof DefinitionError) return error;
      throw error;
    }
  }

  /** Refuses a file that changed since it was read. */
  async #checkSame({ place, fileText }: DefinitionCopy): Promise<void> {
    const now = await this.#readFile(place);
    if (!(now instanceof DefinitionError) && now.fileText === fileText) return;
    throw new CommandFailure(`${place} has changed since it was read`);
  }

  #formatPath(name: string): string {
    return join(this.#folder, fileName(name));
  }
}

/** Readable by everyone, subject to the umask. */
const NEW_FILE_MODE = 0o644;

/** The permission bits of a mode. */
const MODE_MASK = 0o777;

/**
 * The file name of a definition. Names contain only letters, digits, `_`, `-` and single dots, so
 * the file stays in the folder.
 */
function fileName(name: string): string {
  return name + DEFINITION_ENDING;
}

/** @throws CommandFailure when the disk fails. */
async function onDisk(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (!(cause instanceof Error) || systemCode(cause) === undefined) throw cause;
    throw new CommandFailure(systemSentence(cause), cause);
  }
}
