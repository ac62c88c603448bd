import { z } from 'zod';
import { NAME_LENGTH_MAX, NARROWED_NAMES_MAX, PROJECT_LENGTH_MAX, TOKENS_MAX } from '../limits.ts';
import { type Grant, SCOPES, type Scope } from './grant.ts';
import type { Quota } from './quotas.ts';

const NAME = z.string().min(1).max(NAME_LENGTH_MAX);
const SHA256 = z.string().regex(/^[0-9a-f]{64}$/);
const TIME = z.iso.datetime();

/** The restrictions of a token, with their names in requests, answers and the file. */
export const NARROWING = {
  projects: z.array(z.string().min(1).max(PROJECT_LENGTH_MAX)).min(1).max(NARROWED_NAMES_MAX),
  sources: z.array(NAME).min(1).max(NARROWED_NAMES_MAX),
  endpoints: z.array(NAME).min(1).max(NARROWED_NAMES_MAX),
} as const;

/** How much may be posted with a token, on one UTC day and within the retention. */
export const QUOTA = {
  events_per_day: z.int().min(1).optional(),
  bytes_per_day: z.int().min(1).optional(),
  stored_bytes: z.int().min(1).optional(),
} as const;

const RECORD = z.strictObject({
  id: NAME,
  name: NAME,
  sha256: SHA256,
  scopes: z.array(z.enum(SCOPES)).min(1),
  projects: NARROWING.projects.optional(),
  sources: NARROWING.sources.optional(),
  endpoints: NARROWING.endpoints.optional(),
  default_source: NAME.optional(),
  ...QUOTA,
  created_at: TIME.optional(),
  expires_at: TIME.optional(),
});

/** A stored token, without its text. */
export type TokenRecord = z.infer<typeof RECORD>;

/** The contents of `tokens.json`. */
export const TOKEN_FILE = z.object({
  version: z.literal(2),
  tokens: z.array(RECORD).max(TOKENS_MAX),
});

/** The contents of `tokens.json` as earlier versions wrote it. */
export const TOKEN_FILE_1 = z.object({
  version: z.literal(1),
  tokens: z.array(z.object({ name: NAME, scopes: z.array(z.enum(SCOPES)), sha256: SHA256 })).min(1),
});

/** The quota of a token, if it has one. */
export function findQuota({
  events_per_day: events,
  bytes_per_day: bytes,
  stored_bytes,
}: TokenRecord): Quota | undefined {
  const quota = { events, bytes, stored_bytes };
  return Object.values(quota).every((max) => max === undefined) ? undefined : quota;
}

export function toGrant(record: TokenRecord): Grant {
  const { id, name, scopes, projects, sources, endpoints, default_source, expires_at } = record;
  return {
    id,
    name,
    scopes: scopes.includes('manage') ? withExplore(scopes) : scopes,
    projects: projects ?? 'all',
    sources: sources ?? 'all',
    endpoints: endpoints ?? 'all',
    defaultSource: default_source,
    expiresMs: expires_at === undefined ? undefined : Date.parse(expires_at),
  };
}

function withExplore(scopes: readonly Scope[]): readonly Scope[] {
  return SCOPES.filter((scope) => scope === 'explore' || scopes.includes(scope));
}
