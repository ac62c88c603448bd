import { must } from '../../engine/columns.ts';
import { NO_TENANT, type Tenant, TenantSets } from '../../engine/index.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import {
  CACHE_ANSWER_PARTS,
  CACHE_CALLER_QUERY_BYTES,
  CACHE_ENTRIES_MAX,
  CACHE_ENTRY_BYTES,
  RENEWAL_LEAD_PARTS,
  RENEWAL_RETRY_PARTS,
} from '../limits.ts';
import { cacheKeyText } from './cache-key.ts';
import type { KeptAnswer } from './kept-answer.ts';
import type { QueryCall } from './query-runner.ts';

/** Contents and counters of the cache of answers, for monitoring. */
type CacheStats = {
  /** Answers kept now. */
  readonly entryCount: number;
  /** Bytes of their bodies in all encodings, and of what is kept with them. */
  readonly byteSize: number;
  /** Calls answered with a kept answer. */
  readonly hitCount: number;
  /** Calls that found none and began a run. */
  readonly missCount: number;
  /** Calls that found none and waited for another call's run. */
  readonly collapsedCount: number;
  /** Successful renewals of kept answers. */
  readonly renewalCount: number;
  /** Failed renewals; the old answer stays until it expires. */
  readonly renewalFailureCount: number;
  /** Answers evicted before they expired. */
  readonly evictionCount: number;
};

/** State and counters of endpoint calls, as plain numbers since the start. */
export type CallStats = {
  /** Runs that the engine has not finished, including renewals. */
  readonly runsUnderWay: number;
  readonly cache: CacheStats;
};

/** The key of a call: at any moment, calls with the same `text` have the same answer. */
export type CallKey = QueryCall & {
  /** The tenant that asks. The answer does not depend on it. */
  readonly tenant: Tenant;
  /** The version of the definition; a changed definition has another. */
  readonly version: number;
  readonly text: string;
};

/** A kept answer. All times are milliseconds on the monotonic clock. */
export type KeptEntry = {
  readonly key: CallKey;
  readonly answer: KeptAnswer;
  /** When its run read the data. */
  readonly madeMs: number;
  /** When it expires. */
  readonly endMs: number;
};

type Entry = KeptEntry & {
  key: CallKey;
  /** The tenant that asked first. The answer counts as this tenant's, whoever else gets it. */
  readonly tenant: Tenant;
  answer: KeptAnswer;
  madeMs: number;
  endMs: number;
  /**
   * When a caller last asked for it again, after the call that it was made for; -Infinity for
   * never.
   */
  calledAgainMs: number;
  /** When it may next be renewed; infinite without `warm`. */
  renewMs: number;
  /** The bytes that the sums contain for this entry. */
  byteSize: number;
};

/**
 * Kept answers by key, bounded in number and in bytes. When full, it evicts the least recently
 * called answer of the tenant that uses most. So a tenant that is alone may use the whole cache,
 * and nobody's calls evict the answers of a tenant below its share. Time is an argument, in
 * milliseconds of the monotonic clock.
 *
 * Invariant: `#byteSize` is the sum over the entries, `#byteSizes` the sums over the entries of
 * each tenant, and no entry belongs to a dropped definition.
 */
export class ResultCache {
  readonly #byteSizeMax: number;
  readonly #entryCountMax: number;
  readonly #entries = new Map<string, Entry>();
  /** The entries of each tenant, in order of their last calls. */
  readonly #ofTenants = new TenantSets<Entry>();
  readonly #byteSizes = new Map<Tenant, number>();
  /** The definition last called under each id, with its version. */
  readonly #versions = new Map<string, { readonly endpoint: Endpoint; readonly version: number }>();
  #versionCount = 0;
  #byteSize = 0;
  #evictionCount = 0;

  constructor(bounds: {
    readonly byteSizeMax: number;
    readonly entryCountMax?: number | undefined;
  }) {
    this.#byteSizeMax = bounds.byteSizeMax;
    this.#entryCountMax = bounds.entryCountMax ?? CACHE_ENTRIES_MAX;
  }

  get entryCount(): number {
    return this.#entries.size;
  }

  get byteSize(): number {
    return this.#byteSize;
  }

  get evictionCount(): number {
    return this.#evictionCount;
  }

  /** Whether answers of the endpoint may be kept. */
  takes({ definition }: Endpoint): boolean {
    return definition.cacheS !== undefined && this.#byteSizeMax > 0;
  }

  /**
   * Makes the key of a call. If the definition has changed since the last call, its old answers are
   * dropped.
   */
  createKey(call: QueryCall, tenant: Tenant = NO_TENANT): CallKey {
    const { endpoint } = call;
    const { id } = endpoint.definition;
    let known = this.#versions.get(id);
    if (known?.endpoint !== endpoint) {
      if (known !== undefined) this.drop(id);
      known = { endpoint, version: ++this.#versionCount };
      this.#versions.set(id, known);
    }
    const { version } = known;
    return { ...call, tenant, version, text: cacheKeyText({ ...call, version }) };
  }

  /** Finds an answer that has not expired, and counts as a call of it. */
  find(key: CallKey, nowMs: number): KeptEntry | undefined {
    const entry = this.#entries.get(key.text);
    if (entry === undefined) return undefined;
    entry.calledAgainMs = nowMs;
    // Deleting and adding moves the entry to the end of the eviction order.
    this.#ofTenants.delete(entry.tenant, entry);
    this.#ofTenants.add(entry.tenant, entry);
    return entry.endMs > nowMs ? entry : undefined;
  }

  /**
   * Keeps an answer and replaces an older one. Returns `false` for an answer that is not kept: it
   * is too large a fraction of the cache, has expired, or its definition was dropped since its run
   * began.
   */
  put(key: CallKey, answer: KeptAnswer, times: { madeMs: number; nowMs: number }): boolean {
    const { id, cacheS = 0, warmS } = key.endpoint.definition;
    const { madeMs, nowMs } = times;
    const byteSize = measureEntry(key, answer);
    const endMs = madeMs + cacheS * 1000;
    const isCurrent = this.#versions.get(id)?.version === key.version;
    const isSmall = byteSize <= this.#byteSizeMax / CACHE_ANSWER_PARTS;
    const old = this.#entries.get(key.text);
    if (!isCurrent || !isSmall || endMs <= nowMs) {
      if (old !== undefined) this.#remove(old);
      return false;
    }
    const renewMs = madeMs + renewalAgeMs(cacheS * 1000, warmS);
    if (old !== undefined && isSame(old.answer, answer)) {
      // The bytes are the same, so their compressed forms stay valid.
      old.answer.completeUntilUs = answer.completeUntilUs;
      Object.assign(old, { madeMs, endMs, renewMs });
      return true;
    }
    answer.whenGrown(() => this.#measure(key.text, answer));
    const made = { key, answer, madeMs, endMs, renewMs };
    if (old === undefined)
      this.#add({ ...made, tenant: key.tenant, calledAgainMs: NEVER, byteSize: 0 });
    // A renewal is not a call: the new answer keeps the old one's place in the order of calls.
    else Object.assign(old, made);
    this.#measure(key.text, answer);
    // The new entry may have been evicted at once, if it exceeds its tenant's share.
    return this.#entries.has(key.text);
  }

  /** Postpones the next renewal of an answer after a failed one. */
  putOffRenewal(key: CallKey, nowMs: number): void {
    const entry = this.#entries.get(key.text);
    const { warmS } = key.endpoint.definition;
    if (entry === undefined || warmS === undefined) return;
    entry.renewMs = nowMs + (warmS * 1000) / RENEWAL_RETRY_PARTS;
  }

  /**
   * Whether it is time to renew the answer of this key: it is kept, old enough, and was called
   * again within the last `warm`. An answer that was called once may never be called again.
   */
  isDue(key: CallKey, nowMs: number): boolean {
    const entry = this.#entries.get(key.text);
    return entry !== undefined && isDue(entry, nowMs);
  }

  /** Lists all due renewals, the oldest answer first. */
  listDue(nowMs: number): CallKey[] {
    const due: Entry[] = [];
    // Of ten thousand answers few are due, so none is looked up or copied.
    for (const entry of this.#entries.values()) if (isDue(entry, nowMs)) due.push(entry);
    return due.sort((left, right) => left.madeMs - right.madeMs).map(({ key }) => key);
  }

  /** Drops expired answers. */
  expire(nowMs: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.endMs <= nowMs) this.#remove(entry);
    }
  }

  /** Drops all answers of a definition, and does not keep those of running queries. */
  drop(definitionId: string): void {
    this.#versions.delete(definitionId);
    for (const entry of this.#entries.values()) {
      if (entry.key.endpoint.definition.id === definitionId) this.#remove(entry);
    }
  }

  #add(entry: Entry): void {
    this.#entries.set(entry.key.text, entry);
    this.#ofTenants.add(entry.tenant, entry);
  }

  /** Counts the bytes of an answer that has grown, unless it was evicted. */
  #measure(text: string, answer: KeptAnswer): void {
    const entry = this.#entries.get(text);
    if (entry?.answer !== answer) return;
    this.#count(entry, measureEntry(entry.key, answer));
    this.#makeRoom();
  }

  #count(entry: Entry, byteSize: number): void {
    const { tenant } = entry;
    const grownBytes = byteSize - entry.byteSize;
    const tenantBytes = (this.#byteSizes.get(tenant) ?? 0) + grownBytes;
    if (tenantBytes > 0) this.#byteSizes.set(tenant, tenantBytes);
    else this.#byteSizes.delete(tenant);
    this.#byteSize += grownBytes;
    entry.byteSize = byteSize;
  }

  #makeRoom(): void {
    for (;;) {
      let tenant: Tenant | undefined;
      if (this.#byteSize > this.#byteSizeMax) tenant = findLargest(this.#byteSizes);
      else if (this.#entries.size > this.#entryCountMax) tenant = this.#ofTenants.fullest();
      else return;
      this.#remove(must(this.#ofTenants.oldest(must(tenant))));
      this.#evictionCount += 1;
    }
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.key.text);
    this.#ofTenants.delete(entry.tenant, entry);
    this.#count(entry, 0);
  }
}

function isDue({ key, endMs, renewMs, calledAgainMs }: Entry, nowMs: number): boolean {
  if (endMs <= nowMs || renewMs > nowMs) return false;
  const { warmS = 0 } = key.endpoint.definition;
  return nowMs - calledAgainMs <= warmS * 1000;
}

/** Whether callers get the same from both. */
function isSame(kept: KeptAnswer, made: KeptAnswer): boolean {
  return kept.digest === made.digest && kept.truncatedTo === made.truncatedTo;
}

const NEVER = Number.NEGATIVE_INFINITY;

/** Finds the tenant with the most bytes. */
function findLargest(byteSizes: ReadonlyMap<Tenant, number>): Tenant | undefined {
  let largest: Tenant | undefined;
  let most = 0;
  for (const [tenant, byteSize] of byteSizes) {
    if (byteSize <= most) continue;
    largest = tenant;
    most = byteSize;
  }
  return largest;
}

/**
 * The age at which an answer is renewed, early enough that a run ends before the answer expires.
 */
function renewalAgeMs(cacheMs: number, warmS: number | undefined): number {
  if (warmS === undefined) return Number.POSITIVE_INFINITY;
  return Math.min(warmS * 1000, cacheMs - cacheMs / RENEWAL_LEAD_PARTS);
}

/**
 * Bytes of an entry. V8 may need two for a character, and the values contain the key's texts again.
 */
function measureEntry(key: CallKey, answer: KeptAnswer): number {
  const queryBytes = key.callerQuery === undefined ? 0 : CACHE_CALLER_QUERY_BYTES;
  return answer.byteSize + 4 * key.text.length + queryBytes + CACHE_ENTRY_BYTES;
}
