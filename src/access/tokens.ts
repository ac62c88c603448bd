import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { SerialWork } from '../../ingest/serial-work.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { TOKENS_MAX } from '../limits.ts';
import { StartError } from '../start-error.ts';
import {
  isReplaced,
  missingTokens,
  type NewToken,
  settingsRecords,
  type TokenSettings,
} from './first-tokens.ts';
import type { Grant } from './grant.ts';
import type { Quota } from './quotas.ts';
import { TokenFile } from './token-file.ts';
import type { QuotaChange, TokenOrder } from './token-order.ts';
import { findQuota, type TokenRecord, toGrant } from './token-record.ts';
import { newTokenText, sha256Of } from './token-text.ts';

/** Where a token comes from. Tokens of the settings can only be removed there. */
export type TokenOrigin = 'settings' | 'file';

/** A token as listed to those who manage the service. */
export type KnownToken = Omit<TokenRecord, 'sha256'> & { readonly from: TokenOrigin };

export type OpenedTokens = {
  readonly tokens: Tokens;
  readonly made: readonly NewToken[];
  /** Names of generated tokens that the settings replace; they are revoked. */
  readonly replaced: readonly string[];
  /** Whether one of the two files was damaged and is rewritten from the other. */
  readonly isRepaired: boolean;
};

type Entry = {
  readonly record: TokenRecord;
  readonly from: TokenOrigin;
  readonly grant: Grant;
  readonly digest: Buffer;
};

/**
 * The tokens of the service, as digests. A change is written to the file first, and takes effect
 * when it resolves.
 *
 * Invariant: every token that is made here has a unique name.
 */
export class Tokens {
  readonly #file: TokenFile;
  readonly #wallMs: () => number;
  /** Entries by the `#computeKey` of their digest. */
  readonly #entries = new Map<string, Entry>();
  /** Quotas by token id. */
  readonly #quotas = new Map<string, Quota>();
  /** Revoked grants that requests may still hold. */
  readonly #revoked = new WeakSet<Grant>();
  readonly #secret = randomBytes(32).toString('hex');
  /** Runs changes one after another. */
  readonly #changes = new SerialWork();

  constructor(
    records: Readonly<Record<TokenOrigin, readonly TokenRecord[]>>,
    { file, wallMs }: { readonly file: TokenFile; readonly wallMs: () => number },
  ) {
    this.#file = file;
    this.#wallMs = wallMs;
    for (const record of records.file) this.#add(record, 'file');
    // For a text in both, the settings take precedence.
    for (const record of records.settings) this.#add(record, 'settings');
  }

  /**
   * Finds the grant of a token; `expired` if it has expired. The time does not depend on the number
   * of tokens. The look-up's duration may depend on the key, but the key is a hash with a secret of
   * this process: nobody can construct one, or learn a token or a digest from it. Digests are
   * compared in constant time.
   */
  find(token: string): Grant | 'expired' | undefined {
    // The one-shot `hash`, because every call passes here and a hash object costs more than the
    // hash.
    const digest = hash('sha256', token, 'buffer');
    const entry = this.#entries.get(this.#computeKey(digest));
    if (entry === undefined || !timingSafeEqual(entry.digest, digest)) return undefined;
    return this.#isOver(entry.grant) ? 'expired' : entry.grant;
  }

  /** Whether a grant is still valid, for long-lived requests. */
  stillGrants(grant: Grant): boolean {
    return !this.#revoked.has(grant) && !this.#isOver(grant);
  }

  /** All tokens, those of the settings first. */
  list(): readonly KnownToken[] {
    const known = Array.from(this.#entries.values(), toKnownToken);
    const rank = ({ from }: KnownToken) => (from === 'settings' ? 0 : 1);
    return known.sort((left, right) => rank(left) - rank(right));
  }

  /** @throws ServiceError when no token has the id. */
  mustFindById(id: string): KnownToken {
    return toKnownToken(this.#mustFind(id));
  }

  /** The quota of the token with this id; `undefined` if unlimited. */
  findQuota(id: string): Quota | undefined {
    return this.#quotas.get(id);
  }

  /**
   * @throws ServiceError when the token is missing, is one of the settings, or cannot be written.
   */
  changeQuota(id: string, change: QuotaChange): Promise<KnownToken> {
    return this.#changes.run(async () => {
      const entry = this.#mustFindOfFile(id);
      const { events_per_day, bytes_per_day, stored_bytes, ...rest } = entry.record;
      const quota = { events_per_day, bytes_per_day, stored_bytes };
      const wanted = { ...quota, ...withoutUndefined(change) };
      if (Object.values(wanted).some(isNumber) && !rest.scopes.includes('ingest')) {
        const message = 'quotas are for tokens with the scope ingest';
        throw new ServiceError('token_conflict', message);
      }
      const given = Object.entries(wanted).filter(([, max]) => isNumber(max));
      const record: TokenRecord = { ...rest, ...Object.fromEntries(given) };
      await this.#write(
        this.#recordsOfFile().map((other) => (other === entry.record ? record : other)),
      );
      this.#put({ ...entry, record });
      return toKnownToken({ ...entry, record });
    });
  }

  /**
   * @throws ServiceError when the name is taken, there are too many tokens, or the file cannot be
   * written.
   */
  create(order: TokenOrder): Promise<NewToken> {
    return this.#changes.run(async () => {
      const records = this.#recordsOfFile();
      if (records.length >= TOKENS_MAX) {
        const message = `there may be at most ${TOKENS_MAX} tokens; the limit is reached. Revoke some first`;
        throw new ServiceError('token_conflict', message);
      }
      const { name } = order;
      if (this.list().some((known) => known.name === name)) {
        throw new ServiceError('token_conflict', `there is a token ${echo(name)} already`);
      }
      const token = newTokenText();
      const created_at = new Date(this.#wallMs()).toISOString();
      const record = { id: randomUUID(), ...order, created_at, sha256: sha256Of(token) };
      await this.#write([...records, record]);
      this.#add(record, 'file');
      return { id: record.id, name, token, scopes: record.scopes };
    });
  }

  /**
   * @throws ServiceError when the token is missing, is one of the settings, or the file cannot be
   * written.
   */
  revoke(id: string): Promise<void> {
    return this.#changes.run(async () => {
      const { grant, digest } = this.#mustFindOfFile(id);
      await this.#write(this.#recordsOfFile().filter((other) => other.id !== id));
      this.#entries.delete(this.#computeKey(digest));
      this.#quotas.delete(id);
      this.#revoked.add(grant);
    });
  }

  #isOver({ expiresMs }: Grant): boolean {
    return expiresMs !== undefined && this.#wallMs() >= expiresMs;
  }

  #mustFind(id: string): Entry {
    const entry = [...this.#entries.values()].find(({ record }) => record.id === id);
    if (entry !== undefined) return entry;
    throw new ServiceError('unknown_token', 'there is no token with this id');
  }

  #mustFindOfFile(id: string): Entry {
    const entry = this.#mustFind(id);
    if (entry.from === 'file') return entry;
    throw new ServiceError(
      'token_conflict',
      `the token ${entry.record.name} comes from the settings: to change or revoke it, change the setting and restart the service`,
    );
  }

  #recordsOfFile(): readonly TokenRecord[] {
    const entries = [...this.#entries.values()].filter(({ from }) => from === 'file');
    return entries.map(({ record }) => record);
  }

  async #write(records: readonly TokenRecord[]): Promise<void> {
    try {
      await this.#file.write(records);
    } catch (cause) {
      if (!(cause instanceof StartError)) throw cause;
      throw new ServiceError('storage_failed', 'tokens cannot be written to disk at present', {
        cause,
      });
    }
  }

  #add(record: TokenRecord, from: TokenOrigin): void {
    const digest = Buffer.from(record.sha256, 'hex');
    this.#put({ record, from, grant: toGrant(record), digest });
  }

  #put(entry: Entry): void {
    const { record, digest } = entry;
    this.#entries.set(this.#computeKey(digest), entry);
    const quota = findQuota(record);
    if (quota === undefined) this.#quotas.delete(record.id);
    else this.#quotas.set(record.id, quota);
  }

  #computeKey(digest: Buffer): string {
    return hash('sha256', this.#secret + digest.toString('latin1'), 'base64');
  }
}

/**
 * Opens the tokens of the settings and of `tokens.json` in the data folder. A token of the settings
 * permanently replaces the generated one of its name. If no token may manage the service, new ones
 * are made and their digests stored.
 *
 * @throws StartError when the file exists and was not written by weir, or cannot be used.
 */
export async function openTokens(
  options: TokenSettings & {
    readonly dataDir: string;
    /** The machine's clock, by which tokens expire even if the clock of queries stands still. */
    readonly wallMs: () => number;
  },
): Promise<OpenedTokens> {
  const { wallMs } = options;
  const settings = settingsRecords(options);
  const file = new TokenFile(options.dataDir);
  const found = await file.read();
  const replaced = found?.tokens.filter((record) => isReplaced(record, settings)) ?? [];
  // Version 1 ignored the file's tokens if the settings gave any, so they stay without effect.
  const isVoid = found?.version === 1 && settings.length > 0;
  const kept = isVoid ? [] : (found?.tokens.filter((record) => !replaced.includes(record)) ?? []);
  const missing = missingTokens([...settings, ...kept], wallMs());
  const tokens = [...kept, ...missing.map(({ record }) => record)];
  const isOutdated = found?.version === 1 && !isVoid;
  if (replaced.length > 0 || missing.length > 0 || isOutdated) await file.write(tokens);
  else if (found?.isPaired === false && !isVoid) await file.write(tokens).catch(passOverStartError);
  return {
    tokens: new Tokens({ settings, file: tokens }, { file, wallMs }),
    made: missing.map(({ made }) => made),
    replaced: replaced.map(({ name }) => name),
    isRepaired: found?.isDamaged ?? false,
  };
}

/** A start needs only one intact file. The next change or the next start rewrites the other. */
function passOverStartError(error: unknown): void {
  if (!(error instanceof StartError)) throw error;
}

/**
 * Opens only the tokens of a folder's file, for a command that holds the folder while no service
 * does. Makes no tokens.
 *
 * @throws StartError as `openTokens` does.
 */
export async function openFileTokens(dataDir: string, wallMs: () => number): Promise<Tokens> {
  const file = new TokenFile(dataDir);
  const kept = await file.read();
  return new Tokens({ settings: [], file: kept?.tokens ?? [] }, { file, wallMs });
}

function toKnownToken({ record, from }: Entry): KnownToken {
  const { sha256: _, ...known } = record;
  return { ...known, from };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function withoutUndefined(change: QuotaChange): QuotaChange {
  return Object.fromEntries(Object.entries(change).filter(([, max]) => max !== undefined));
}
