import { ask, send } from './client.ts';

/** A moment and what happened until then, as in `GET /api/service`; times in milliseconds. */
export type HistoryPoint = {
  readonly at: string;
  readonly seconds: number;
  readonly events: number;
  readonly bytes: number;
  readonly posts: number;
  readonly refused_posts: number;
  readonly calls: number;
  readonly failed_calls: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly resident_bytes: number;
  readonly backlog_bytes: number;
};

export type SourceInfo = {
  readonly name: string;
  readonly project: string | null;
  readonly events: number;
  readonly bytes: number;
  readonly stored_bytes: number;
  readonly segments: number;
  /** Microseconds since the epoch. */
  readonly oldest: number | null;
  readonly newest: number | null;
  readonly since_start: { readonly events: number; readonly refused: number };
};

export type EndpointCalls = {
  readonly name: string;
  readonly calls: number;
  readonly failed: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
};

export type ServiceInfo = {
  readonly version: string;
  readonly started_at: string;
  readonly status: 'ok' | 'degraded';
  readonly reasons: readonly { readonly code: string; readonly message: string }[];
  readonly sources: readonly SourceInfo[];
  readonly memory: {
    readonly limit_bytes: number | null;
    readonly resident_bytes: number;
    readonly parts: Readonly<Record<string, number>>;
  };
  readonly log_bytes: number;
  readonly followers: number;
  readonly history: readonly HistoryPoint[];
  readonly endpoints: readonly EndpointCalls[];
};

type PostAnswer = {
  readonly at: string;
  readonly status: number;
  readonly code: string;
  readonly message?: string;
  readonly from?: string;
};

export type PostReport = {
  readonly token: { readonly id: string; readonly name: string } | null;
  readonly receiver: string;
  readonly posts: number;
  readonly refused_posts: number;
  readonly stored_events: number;
  readonly last?: PostAnswer;
  readonly last_event?: {
    readonly source: string;
    readonly project?: string;
    readonly id: string;
    readonly timestamp: number;
    readonly stored_at: string;
  };
  readonly findings: readonly { readonly code: string; readonly message: string }[];
};

export type PostReports = {
  readonly since: string;
  readonly findings: readonly { readonly code: string; readonly message: string }[];
  readonly result: readonly PostReport[];
};

export type TokenInfo = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly from: 'settings' | 'file';
  readonly projects?: readonly string[];
  readonly sources?: readonly string[];
  readonly endpoints?: readonly string[];
  readonly expires_at?: string;
};

export async function loadService(signal: AbortSignal): Promise<ServiceInfo> {
  return (await ask<{ readonly result: ServiceInfo }>('api/service', { signal })).result;
}

export function loadPosts(signal: AbortSignal): Promise<PostReports> {
  return ask<PostReports>('api/posts', { signal });
}

export async function loadTokens(signal: AbortSignal): Promise<readonly TokenInfo[]> {
  return (await ask<{ readonly result: readonly TokenInfo[] }>('api/tokens', { signal })).result;
}

/** Makes a token; its text is in this answer and nowhere else. */
export async function createToken(name: string, scopes: readonly string[]): Promise<string> {
  const json = { name, scopes };
  const answer = await ask<{ readonly result: { readonly token: string } }>('api/tokens', {
    method: 'POST',
    json,
  });
  return answer.result.token;
}

export async function revokeToken(id: string): Promise<void> {
  await send(`api/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' });
}
