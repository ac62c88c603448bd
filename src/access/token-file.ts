import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  type CheckedPair,
  COPY_ENDING,
  encodeChecked,
  judgePair,
} from '../../ingest/checked-file.ts';
import { DiskError } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { readFile, SteadyDisk } from '../../ingest/disk/steady-disk.ts';
import { systemReason } from '../../ingest/system-reason.ts';
import { writeFileAtomically } from '../atomic-file.ts';
import { StartError } from '../start-error.ts';
import { TOKEN_FILE, TOKEN_FILE_1, type TokenRecord } from './token-record.ts';

/** Its name in the data folder, which also holds a copy. */
export const TOKEN_FILE_NAME = 'tokens.json';

/** The contents of the token file. */
export type ReadTokens = {
  readonly version: number;
  readonly tokens: TokenRecord[];
  /** Whether the file and its copy are intact and equal. */
  readonly isPaired: boolean;
  /** Whether one of the two is damaged; the other has every token. */
  readonly isDamaged: boolean;
};

/**
 * The file in a data folder that keeps the digests of its tokens, and a copy, each with a checksum.
 * Only the holder of the folder's lock writes them.
 *
 * Invariant: damage to one file changes no token. If both are damaged, reading fails, because an
 * older state could accept a revoked token again.
 */
export class TokenFile {
  readonly #path: string;
  readonly #copyPath: string;

  constructor(dataDir: string) {
    this.#path = join(dataDir, TOKEN_FILE_NAME);
    this.#copyPath = this.#path + COPY_ENDING;
  }

  /**
   * Reads the tokens; `undefined` without a file. Version 1 is converted.
   *
   * @throws StartError when the file cannot be read, or was not written by weir.
   */
  async read(): Promise<ReadTokens | undefined> {
    const pair = judgePair(await readOrMissing(this.#path), await readOrMissing(this.#copyPath));
    if (pair.kind === 'missing') return undefined;
    if (pair.kind === 'damaged') throw this.#damageError('it and its copy are damaged');
    try {
      return { ...tokensIn(pair.body), ...pickState(pair) };
    } catch (cause) {
      throw this.#damageError('it is damaged', cause);
    }
  }

  #damageError(reason: string, cause?: unknown): StartError {
    const advice = `Restore it from a backup, or remove it and ${this.#copyPath} to have new tokens made: all others are invalid then`;
    return new StartError(
      `${this.#path} must be the file of token hashes that weir wrote; ${reason}. ${advice}`,
      cause,
    );
  }

  /**
   * Replaces the tokens. When it resolves, they survive a crash and damage to one of the files;
   * before, the old ones may be on disk. Only the owner may read the files.
   *
   * @throws StartError when it cannot be written.
   */
  async write(tokens: readonly TokenRecord[]): Promise<void> {
    try {
      const text = encodeChecked(`${JSON.stringify({ version: 2, tokens }, null, 2)}\n`).toString();
      await writeFileAtomically(this.#path, text);
      await writeFileAtomically(this.#copyPath, text);
    } catch (cause) {
      throw new StartError(`${this.#path} cannot be written: ${systemReason(cause)}`, cause);
    }
  }
}

/** @throws StartError when it cannot be read. */
async function readOrMissing(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(SteadyDisk.of(new NodeDisk()), path);
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
    if (error.code === 'ENOENT') return undefined;
    throw new StartError(error.message, error);
  }
}

/** Parses the body; throws if no version wrote it. */
function tokensIn(body: Uint8Array): Pick<ReadTokens, 'version' | 'tokens'> {
  const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
  const old = TOKEN_FILE_1.safeParse(value);
  if (!old.success) return TOKEN_FILE.parse(value);
  return { version: 1, tokens: old.data.tokens.map((one) => ({ id: randomUUID(), ...one })) };
}

function pickState(
  pair: Extract<CheckedPair, { kind: 'whole' | 'old' }>,
): Pick<ReadTokens, 'isPaired' | 'isDamaged'> {
  if (pair.kind === 'old') return { isPaired: false, isDamaged: false };
  return { isPaired: pair.isPaired, isDamaged: pair.isDamaged };
}
