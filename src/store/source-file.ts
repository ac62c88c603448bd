import { join } from 'node:path';
import { z } from 'zod';
import { COPY_ENDING, readPair, writePair } from '../../ingest/checked-file.ts';
import { type Disk, DiskError } from '../../ingest/disk/disk.ts';
import { formatProjectRule, parseSource, type Source } from '../../ingest/source.ts';
import { SOURCES_MADE_MAX } from '../limits.ts';
import { StartError } from '../start-error.ts';

/** Its name in the store folder, which also holds a copy. */
export const SOURCE_FILE_NAME = 'sources.json';

const CONTENT = z.strictObject({
  version: z.literal(1),
  sources: z.array(z.strictObject({ name: z.string(), project: z.string() })).max(SOURCES_MADE_MAX),
});

/** The contents of the file of sources. */
export type ReadSources = {
  readonly sources: readonly Source[];
  /** Whether one of the two files was damaged; the other has every source. */
  readonly isDamaged: boolean;
};

/**
 * The file in a store folder that keeps sources made over HTTP, and a copy, each with a checksum.
 * Only the holder of the folder's lock writes them.
 *
 * Invariant: damage to one file changes no source. If both are damaged, the start fails: senders
 * then wait, while without their source they would be refused for good.
 */
export class SourceFile {
  readonly #disk: Disk;
  readonly #path: string;

  /** `storePath` is absolute. */
  constructor(disk: Disk, storePath: string) {
    this.#disk = disk;
    this.#path = join(storePath, SOURCE_FILE_NAME);
  }

  /**
   * Reads the sources; empty without a file. Changes nothing.
   *
   * @throws StartError when the file cannot be read, or was not written by weir.
   */
  async read(): Promise<ReadSources> {
    return (await this.#read()).found;
  }

  /**
   * Reads the sources, and rewrites the file and its copy unless both are intact. The next start
   * repairs what fails now.
   */
  async open(): Promise<ReadSources> {
    const { found, isPaired } = await this.#read();
    if (!isPaired) {
      await this.write(found.sources).catch((error: unknown) => {
        if (!(error instanceof DiskError)) throw error;
      });
    }
    return found;
  }

  /**
   * Replaces the sources. When it resolves, they survive a crash and damage to one of the files.
   * After a rejection with a `DiskError`, the old or the new ones may be on disk.
   */
  write(sources: readonly Source[]): Promise<void> {
    const content: z.infer<typeof CONTENT> = {
      version: 1,
      sources: sources.map((source) => ({ name: source.name, project: formatProjectRule(source) })),
    };
    return writePair(this.#disk, this.#path, `${JSON.stringify(content, null, 2)}\n`);
  }

  async #read(): Promise<{ readonly found: ReadSources; readonly isPaired: boolean }> {
    const pair = await readPair(this.#disk, this.#path).catch((cause: unknown): never => {
      if (!(cause instanceof DiskError)) throw cause;
      throw new StartError(`the sources cannot be read: ${cause.message}`, cause);
    });
    if (pair.kind === 'missing') {
      return { found: { sources: [], isDamaged: false }, isPaired: true };
    }
    if (pair.kind !== 'whole') throw this.#damageError('it and its copy are damaged');
    const { body, isDamaged, isPaired } = pair;
    return { found: { sources: this.#parse(Buffer.from(body).toString()), isDamaged }, isPaired };
  }

  /**
   * @throws StartError for a file of another version: its checksum is right, but not its contents.
   */
  #parse(text: string): readonly Source[] {
    const content = CONTENT.safeParse(JSON.parse(text));
    if (!content.success) throw this.#damageError('another version of weir wrote it');
    return content.data.sources.map(({ name, project }) => {
      const source = parseSource(name, project);
      if (typeof source === 'string') throw this.#damageError(source);
      return source;
    });
  }

  #damageError(reason: string): StartError {
    return new StartError(
      `${this.#path} must be the file of sources that weir wrote; ${reason}. Restore it from a backup, or remove it and ${this.#path}${COPY_ENDING} and name its sources in SOURCES, each with the rule that it had`,
    );
  }
}
