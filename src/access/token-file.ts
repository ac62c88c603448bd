import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DiskError } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { readFile, SteadyDisk } from '../../ingest/disk/steady-disk.ts';
import { writeFileAtomically } from '../atomic-file.ts';
import { StartError } from '../start-error.ts';
import { TOKEN_FILE, TOKEN_FILE_1, type TokenRecord } from './token-record.ts';

/** The file of a data folder that keeps the digests of its tokens. Only who holds the folder's lock writes it. */
export class TokenFile {
  readonly #path: string;

  constructor(dataDir: string) {
    this.#path = join(dataDir, 'tokens.json');
  }

  /**
   * `undefined` where there is no file. One of version 1 is read as what it would be today.
   *
   * @throws StartError when it cannot be read, or is not what this wrote.
   */
  async read(): Promise<{ readonly version: number; readonly tokens: TokenRecord[] } | undefined> {
    let text: string;
    try {
      const bytes = await readFile(SteadyDisk.of(new NodeDisk()), this.#path);
      text = Buffer.from(bytes).toString('utf8');
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      if (error.code === 'ENOENT') return undefined;
      throw new StartError(error.message, error);
    }
    try {
      const value: unknown = JSON.parse(text);
      const old = TOKEN_FILE_1.safeParse(value);
      if (!old.success) return TOKEN_FILE.parse(value);
      return { version: 1, tokens: old.data.tokens.map((one) => ({ id: randomUUID(), ...one })) };
    } catch (cause) {
      throw new StartError(
        `${this.#path} must be the file of token hashes that weir wrote; it is damaged. Remove it to have new tokens made`,
        cause,
      );
    }
  }

  /**
   * When this resolves the tokens outlast a crash; until then the file holds those from before. Only its owner
   * may read it.
   *
   * @throws StartError when it cannot be written.
   */
  async write(tokens: readonly TokenRecord[]): Promise<void> {
    try {
      await mkdir(dirname(this.#path), { recursive: true });
      await writeFileAtomically(this.#path, `${JSON.stringify({ version: 2, tokens }, null, 2)}\n`);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new StartError(`${this.#path} cannot be written: ${reason}`, cause);
    }
  }
}
