import { randomUUID } from 'node:crypto';
import type { Log } from '../log.ts';
import type { Scope } from './grant.ts';
import type { TokenRecord } from './token-record.ts';
import { newTokenText, sha256Of } from './token-text.ts';

/** The two tokens of the settings. A start creates them if no token could manage the service. */
const KINDS = [
  { name: 'private', scopes: ['ingest', 'query', 'manage'], setting: 'privateAccessToken' },
  { name: 'public', scopes: ['ingest'], setting: 'publicAccessToken' },
] as const satisfies readonly {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly setting: string;
}[];

/** The settings of tokens. */
export type TokenSettings = {
  readonly [Setting in (typeof KINDS)[number]['setting']]: string | undefined;
};

/** A new token. Its text is known only now. */
export type NewToken = {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly scopes: readonly Scope[];
};

/**
 * The variable that sets the token of this name: `PRIVATE_ACCESS_TOKEN` or `PUBLIC_ACCESS_TOKEN`.
 */
export function formatVariable(name: string): string {
  return `${name.toUpperCase()}_ACCESS_TOKEN`;
}

/** The tokens of the settings, the public one first. */
export function settingsRecords(settings: TokenSettings): readonly TokenRecord[] {
  return KINDS.toReversed().flatMap(({ name, scopes, setting }) => {
    const token = settings[setting];
    if (token === undefined) return [];
    return [{ id: `settings-${name}`, name, scopes: [...scopes], sha256: sha256Of(token) }];
  });
}

/**
 * Whether a token of the settings replaces one that a start made. A token that the settings repeat stays, so that it is
 * still valid when the setting is removed.
 */
export function isReplaced(record: TokenRecord, settings: readonly TokenRecord[]): boolean {
  const given = settings.find(({ name }) => name === record.name);
  return given !== undefined && given.sha256 !== record.sha256 && isOfStart(record);
}

/**
 * Whether a start probably made a token: it has the name and the scopes, and no other restriction.
 */
function isOfStart({ name, scopes, ...rest }: TokenRecord): boolean {
  const kind = KINDS.find((each) => each.name === name);
  const { projects, sources, endpoints, default_source, expires_at } = rest;
  const bounds = [projects, sources, endpoints, default_source, expires_at];
  return scopes.join() === kind?.scopes.join() && bounds.every((bound) => bound === undefined);
}

/** Makes tokens for the free names if no token may manage the service; else none. */
export function missingTokens(
  known: readonly TokenRecord[],
  nowMs: number,
): readonly { readonly made: NewToken; readonly record: TokenRecord }[] {
  const canManage = ({ scopes, expires_at }: TokenRecord): boolean =>
    scopes.includes('manage') && (expires_at === undefined || Date.parse(expires_at) > nowMs);
  if (known.some(canManage)) return [];
  const names = new Set(known.map(({ name }) => name));
  return KINDS.filter(({ name }) => !names.has(name)).map(({ name, scopes }) => {
    const made = { id: randomUUID(), name, scopes, token: newTokenText() };
    const created_at = new Date(nowMs).toISOString();
    const sha256 = sha256Of(made.token);
    return { made, record: { id: made.id, name, scopes: [...scopes], created_at, sha256 } };
  });
}

/**
 * Revokes the tokens of a start that failed: nobody has seen them, and the next start makes others.
 * The disk may be what failed the start, so a token that stays is logged. Never rejects.
 */
export async function revokeUnseen(
  opened:
    | {
        readonly made: readonly NewToken[];
        readonly tokens: { readonly revoke: (id: string) => Promise<void> };
      }
    | undefined,
  log: Log,
): Promise<void> {
  for (const { id, name } of opened?.made ?? []) {
    await opened?.tokens.revoke(id).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      log({ level: 'error', event: 'unseen_token_not_revoked', name, id, reason });
    });
  }
}
