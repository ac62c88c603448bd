import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemReason } from '../../ingest/system-reason.ts';
import { DEFINITIONS_MAX } from '../limits.ts';
import { DefinitionError } from './definition-error.ts';
import { definitionNames, readDefinitionFile } from './definition-reading.ts';

/** A file with its text, or the reason why it has none. An unchanged file keeps its object. */
export type FoundFile = {
  /** Its path. */
  readonly file: string;
  readonly text: string | DefinitionError;
};

/** The error for a folder that cannot be read or holds too much. */
export class FolderError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'FolderError';
  }
}

/**
 * A folder of definition files that others edit. It is scanned regularly, because notifications of
 * changes do not work on network and container mounts.
 */
export class DefinitionFolder {
  readonly #folder: string;
  #known: ReadonlyMap<string, { readonly mark: string; readonly found: FoundFile }> = new Map();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Finds the name of a file from its path; `undefined` for a file of another folder. */
  findName(file: string): string | undefined {
    return file === join(this.#folder, basename(file)) ? basename(file) : undefined;
  }

  /**
   * Returns all definition files by name, in order of their names. Reads those whose size, time or
   * inode changed since the last scan.
   *
   * @throws FolderError
   */
  async look(): Promise<ReadonlyMap<string, FoundFile>> {
    const names = await this.#names();
    const known = new Map<string, { readonly mark: string; readonly found: FoundFile }>();
    for (const name of names) {
      const file = join(this.#folder, name);
      const mark = await readMark(file);
      const before = this.#known.get(name);
      const isSame = before?.mark === mark;
      known.set(name, isSame ? before : { mark, found: { file, text: await readOrProblem(file) } });
    }
    this.#known = known;
    return new Map(Array.from(known, ([name, { found }]) => [name, found]));
  }

  async #names(): Promise<readonly string[]> {
    let names: readonly string[];
    try {
      names = await definitionNames(this.#folder);
    } catch (cause) {
      throw new FolderError(
        `ENDPOINTS_DIR must be a readable folder; ${this.#folder} cannot be read: ${systemReason(cause)}`,
        cause,
      );
    }
    if (names.length <= DEFINITIONS_MAX) return names;
    throw new FolderError(
      `there may be at most ${DEFINITIONS_MAX} definition files; got ${names.length}`,
    );
  }
}

/**
 * Returns a text that changes whenever the file is replaced or written to. For a link, it depends
 * on the link's target.
 */
async function readMark(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    // The file was removed since it was listed, or is a broken link. Reading it then gives the
    // reason.
    return String(error);
  }
}

async function readOrProblem(file: string): Promise<string | DefinitionError> {
  try {
    return await readDefinitionFile(file);
  } catch (error) {
    if (error instanceof DefinitionError) return error;
    throw error;
  }
}
