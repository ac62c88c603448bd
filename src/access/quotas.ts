import { DiskError } from '../../ingest/disk/disk.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { QUOTA_WRITE_MS } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Grant } from './grant.ts';
import type { DailyUse, QuotaFile, QuotaState } from './quota-file.ts';
import { StoredBytes } from './stored-bytes.ts';

/** Quotas of one UTC day, which `DailyUse` counts. */
const DAILY_KINDS = ['events', 'bytes'] as const;

export const QUOTA_KINDS = [...DAILY_KINDS, 'stored_bytes'] as const;

export type QuotaKind = (typeof QUOTA_KINDS)[number];

export const QUOTA_OWNERS = ['token', 'project'] as const;

export type QuotaOwner = (typeof QUOTA_OWNERS)[number];

/** How much may be posted on one UTC day, and within the retention. A missing kind is unlimited. */
export type Quota = { readonly [kind in QuotaKind]?: number | undefined };

/** A quota that applies to a post, and the name its use is counted under. */
type Applied = {
  readonly owner: QuotaOwner;
  readonly key: string;
  readonly kind: QuotaKind;
  readonly max: number;
};

const NOTHING: DailyUse = { events: 0, bytes: 0 };

const DAY_MS = 86_400_000;

/**
 * Checks posts against quotas of events and bytes by UTC day, and of stored bytes. A token may have
 * its own quota. Tokens without one that are bound to one project share the quota of that project,
 * so a project needs no configuration, and one that may post more gets a token with its own quota.
 * Posts of several projects are exempt from projects' quotas, because a refusal for one project
 * would lose events of the others.
 *
 * A segment holds many projects, so stored bytes are the bytes posted within the retention.
 *
 * Posts are refused once a quota is used up. The post that reaches it is accepted whole, as are
 * those in progress then. Use is counted in memory and written every QUOTA_WRITE_MS, so a crash
 * forgets at most that. Days are days of the machine's clock.
 */
export class Quotas {
  readonly #ofToken: (id: string) => Quota | undefined;
  readonly #ofProject: Quota;
  readonly #retentionDays: number;
  readonly #wallMs: () => number;
  readonly #monotonicMs: () => number;
  readonly #file: QuotaOptions['file'];
  readonly #log: Log;
  readonly #onRefused: (owner: QuotaOwner, kind: QuotaKind) => void;
  #day = 0;
  /** The use on `#day`, by owner. */
  #uses = new Map<string, DailyUse>();
  /** Stored bytes of owners that had such a quota when they posted. */
  #stored = new Map<string, StoredBytes>();
  /** Whether memory is newer than the file. */
  #isDue = false;
  #writtenMs = Number.NEGATIVE_INFINITY;
  /** The running write; never rejects. */
  #writing: Promise<void> | undefined;
  #isFailing = false;

  private constructor(options: QuotaOptions) {
    this.#ofToken = options.ofToken;
    this.#ofProject = options.ofProject;
    this.#retentionDays = options.retentionDays;
    this.#wallMs = options.wallMs;
    this.#monotonicMs = options.monotonicMs;
    this.#file = options.file;
    this.#log = options.log;
    this.#onRefused = options.onRefused ?? (() => {});
  }

  /** Continues from the file. Rejects with a `DiskError` when it cannot be read. */
  static async open(options: QuotaOptions): Promise<Quotas> {
    const quotas = new Quotas(options);
    const state = await options.file.read();
    if (state === 'damaged') {
      const reason = 'the use of quotas is counted from zero';
      options.log({ level: 'error', event: 'quota_use_damaged', file: options.file.path, reason });
    } else if (state !== 'missing') {
      quotas.#day = state.day;
      quotas.#uses = new Map(Object.entries(state.uses));
      for (const [key, text] of Object.entries(state.stored ?? {})) {
        quotas.#stored.set(key, StoredBytes.parse(text));
      }
      quotas.#dropOldDays();
    }
    return quotas;
  }

  /** @throws ServiceError `quota_exceeded` when a quota that applies to the token is used up. */
  check(grant: Grant): void {
    this.#beginDay();
    for (const kind of DAILY_KINDS) {
      const quota = this.#applied(grant, kind);
      if (quota === undefined) continue;
      const used = this.#uses.get(quota.key)?.[kind] ?? 0;
      if (used >= quota.max) this.#refuseToday(grant, quota, used);
    }
    const quota = this.#applied(grant, 'stored_bytes');
    if (quota === undefined) return;
    const stored = this.#stored.get(quota.key);
    if (stored !== undefined && stored.total >= quota.max) this.#refuseStored(grant, quota, stored);
  }

  /** Counts the stored part of a post. */
  count(grant: Grant, stored: DailyUse): void {
    this.#beginDay();
    for (const { key, quota } of this.#listOwners(grant)) {
      const { events, bytes } = this.#uses.get(key) ?? NOTHING;
      this.#uses.set(key, { events: events + stored.events, bytes: bytes + stored.bytes });
      if (quota.stored_bytes !== undefined) this.#getStored(key).add(this.#day, stored.bytes);
      this.#isDue = true;
    }
  }

  /** What was posted today with a token that has its own quota. */
  usedByToken(id: string): DailyUse {
    this.#beginDay();
    return this.#uses.get(tokenKey(id)) ?? NOTHING;
  }

  /**
   * Bytes within the retention that were posted with a token while it had a quota of stored bytes.
   */
  storedByToken(id: string): number {
    this.#beginDay();
    return this.#stored.get(tokenKey(id))?.total ?? 0;
  }

  /** Call it about once a second. */
  tick(): void {
    if (this.#isDue && this.#monotonicMs() - this.#writtenMs >= QUOTA_WRITE_MS) this.#write();
  }

  /** Resolves when everything is written. */
  async close(): Promise<void> {
    await this.#writing;
    if (this.#isDue) this.#write();
    await this.#writing;
  }

  #applied(grant: Grant, kind: QuotaKind): Applied | undefined {
    const max = this.#ofToken(grant.id)?.[kind];
    if (max !== undefined) return { owner: 'token', key: tokenKey(grant.id), kind, max };
    const project = onlyProject(grant);
    const projectMax = this.#ofProject[kind];
    if (project === undefined || projectMax === undefined) return undefined;
    return { owner: 'project', key: projectKey(project), kind, max: projectMax };
  }

  #listOwners(grant: Grant): readonly { readonly key: string; readonly quota: Quota }[] {
    const owners: { key: string; quota: Quota }[] = [];
    const ofToken = this.#ofToken(grant.id);
    if (ofToken !== undefined) owners.push({ key: tokenKey(grant.id), quota: ofToken });
    const project = onlyProject(grant);
    const hasQuota = QUOTA_KINDS.some((kind) => this.#ofProject[kind] !== undefined);
    if (project !== undefined && hasQuota) {
      owners.push({ key: projectKey(project), quota: this.#ofProject });
    }
    return owners;
  }

  #getStored(key: string): StoredBytes {
    let stored = this.#stored.get(key);
    if (stored === undefined) {
      stored = new StoredBytes();
      this.#stored.set(key, stored);
    }
    return stored;
  }

  #refuseToday(grant: Grant, quota: Applied, used: number): never {
    const { kind, max } = quota;
    const end = isoDay(this.#day + 1);
    this.#refuse(
      quota,
      `${ownerText(grant, quota)} may post ${max} ${kind} a day and has posted ${used}. The day ends at ${end}`,
    );
  }

  #refuseStored(grant: Grant, quota: Applied, stored: StoredBytes): never {
    const { max } = quota;
    const end = isoDay(stored.dayBelow(max, this.#retentionDays));
    this.#refuse(
      quota,
      `${ownerText(grant, quota)} may have ${max} bytes stored and has ${stored.total}. There is room again when old logs are deleted, at ${end}`,
    );
  }

  /** `Retry-After` is at most the end of the day, because a quota may be raised meanwhile. */
  #refuse({ owner, kind }: Applied, message: string): never {
    this.#onRefused(owner, kind);
    const retryAfterS = Math.ceil(((this.#day + 1) * DAY_MS - this.#wallMs()) / 1000);
    throw new ServiceError('quota_exceeded', message, { retryAfterS });
  }

  /** Resets the daily uses on a new day. Call it before reading or counting one. */
  #beginDay(): void {
    const day = Math.floor(this.#wallMs() / DAY_MS);
    if (day === this.#day) return;
    this.#day = day;
    this.#uses = new Map();
    this.#dropOldDays();
  }

  #dropOldDays(): void {
    for (const [key, stored] of this.#stored) {
      stored.dropBefore(this.#day, this.#retentionDays);
      if (stored.total === 0) this.#stored.delete(key);
    }
  }

  #write(): void {
    if (this.#writing !== undefined) return;
    this.#isDue = false;
    this.#writtenMs = this.#monotonicMs();
    this.#writing = this.#writeState().finally(() => {
      this.#writing = undefined;
    });
  }

  #state(): QuotaState {
    const day = this.#day;
    const stored = Array.from(this.#stored, ([key, bytes]) => [key, bytes.toText(day)] as const);
    return { day, uses: Object.fromEntries(this.#uses), stored: Object.fromEntries(stored) };
  }

  async #writeState(): Promise<void> {
    try {
      await this.#file.write(this.#state());
      this.#isFailing = false;
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      // Reported once until a write succeeds; each tick tries again.
      if (!this.#isFailing) {
        this.#log({ level: 'error', event: 'quota_use_write_failed', error: error.message });
      }
      this.#isFailing = true;
      this.#isDue = true;
    }
  }
}

export type QuotaOptions = {
  /** The quota of the token with this id, if it has one. */
  readonly ofToken: (id: string) => Quota | undefined;
  /** The quota of each project. */
  readonly ofProject: Quota;
  /** The retention of logs. */
  readonly retentionDays: number;
  /** The machine's clock. */
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
  readonly file: Pick<QuotaFile, 'path' | 'read' | 'write'>;
  readonly log: Log;
  readonly onRefused?: ((owner: QuotaOwner, kind: QuotaKind) => void) | undefined;
};

/** The project of a token that is bound to exactly one. */
function onlyProject({ projects }: Grant): string | undefined {
  return projects !== 'all' && projects.length === 1 ? projects[0] : undefined;
}

function ownerText(grant: Grant, { owner }: Applied): string {
  return `the ${owner} ${echo(owner === 'token' ? grant.name : (onlyProject(grant) ?? ''))}`;
}

/** The start of a day in ISO 8601. */
function isoDay(day: number): string {
  return new Date(day * DAY_MS).toISOString();
}

function tokenKey(id: string): string {
  return `token ${id}`;
}

function projectKey(project: string): string {
  return `project ${project}`;
}
