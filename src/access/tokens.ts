import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../atomic-file.ts';
import { NAME_LENGTH_MAX } from '../limits.ts';
import { StartError } from '../start-error.ts';

/** `ingest`: post logs. `query`: call endpoints. `manage`: read definitions. */
export type Scope = 'ingest' | 'query' | 'manage';

/** What the bearer of a token may do. */
export type Grant = { readonly name: string; readonly scopes: readonly Scope[] };

/** A token as it is kept: never its text. */
type TokenRecord = Grant & { readonly sha256: string };

const SCOPES_PUBLIC: readonly Scope[] = ['ingest'];
const SCOPES_PRIVATE: readonly Scope[] = ['ingest', 'query', 'manage'];

/** Bytes of randomness of a token that is made here: none guesses 2^256. */
const TOKEN_SIZE = 32;

const FILE_SCHEMA = z.object({
  version: z.literal(1),
  tokens: z
    .array(
      z.object({
        name: z.string().min(1).max(NAME_LENGTH_MAX),
        scopes: z.array(z.enum(['ingest', 'query', 'manage'])),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
      }),
    )
    .min(1),
});

/** The tokens the service knows, as digests. */
export class Tokens {
  readonly #grants: readonly { readonly grant: Grant; readonly digest: Buffer }[];

  constructor(records: readonly TokenRecord[]) {
    this.#grants = records.map(({ name, scopes, sha256 }) => ({
      grant: { name, scopes },
      digest: Buffer.from(sha256, 'hex'),
    }));
  }

  /** Compares with every digest, in a time that tells nothing about any. */
  find(token: string): Grant | undefined {
    // In one step: every call passes here, and an object to hash with costs more than the hash.
    const digest = hash('sha256', token, 'buffer');
    let found: Grant | undefined;
    for (const known of this.#grants) {
      if (timingSafeEqual(known.digest, digest)) found = known.grant;
    }
    return found;
  }
}

/** A token that was made just now: the one moment its text is known. */
export type NewToken = {
  readonly name: string;
  readonly token: string;
  readonly scopes: readonly Scope[];
};

export type OpenedTokens = { readonly tokens: Tokens; readonly made: readonly NewToken[] };

/**
 * The tokens of the settings; without any, those of `tokens.json` in the data folder; without that
 * file, two new ones, whose digests it then holds.
 *
 * @throws StartError when the file is there and is not what this wrote, or cannot be used.
 */
export async function openTokens(settings: {
  readonly dataDir: string;
  readonly publicAccessToken: string | undefined;
  readonly privateAccessToken: string | undefined;
}): Promise<OpenedTokens> {
  const configured: TokenRecord[] = [];
  if (settings.publicAccessToken !== undefined) {
    configured.push(record('public', SCOPES_PUBLIC, settings.publicAccessToken));
  }
  if (settings.privateAccessToken !== undefined) {
    configured.push(record('private', SCOPES_PRIVATE, settings.privateAccessToken));
  }
  if (configured.length > 0) return { tokens: new Tokens(configured), made: [] };

  const path = join(settings.dataDir, 'tokens.json');
  const stored = await readTokenFile(path);
  if (stored !== undefined) return { tokens: new Tokens(stored), made: [] };

  const made = [newToken('private', SCOPES_PRIVATE), newToken('public', SCOPES_PUBLIC)];
  const records = made.map(({ name, scopes, token }) => record(name, scopes, token));
  try {
    await mkdir(settings.dataDir, { recursive: true });
    await writeFileAtomically(
      path,
      `${JSON.stringify({ version: 1, tokens: records }, null, 2)}\n`,
    );
  } catch (cause) {
    throw unusable(path, 'written', cause);
  }
  return { tokens: new Tokens(records), made };
}

async function readTokenFile(path: string): Promise<readonly TokenRecord[] | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw unusable(path, 'read', error);
  }
  try {
    return FILE_SCHEMA.parse(JSON.parse(text)).tokens;
  } catch (cause) {
    throw new StartError(
      `${path} must be the file of token hashes that weir wrote; it is damaged. Remove it to have new tokens made`,
      cause,
    );
  }
}

function unusable(path: string, how: 'read' | 'written', cause: unknown): StartError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StartError(`${path} cannot be ${how}: ${reason}`, cause);
}

function newToken(name: string, scopes: readonly Scope[]): NewToken {
  return { name, scopes, token: `weir_${name}_${randomBytes(TOKEN_SIZE).toString('base64url')}` };
}

function record(name: string, scopes: readonly Scope[], token: string): TokenRecord {
  return { name, scopes, sha256: hash('sha256', token, 'hex') };
}
