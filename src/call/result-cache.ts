import { must } from '../../engine/assert.ts';
import { NO_TENANT, type Tenant, TenantSets } from '../../engine/pool/tenant-sets.ts';
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

/** What the cache of answers holds and has done, for whoever watches the service. */
type CacheStats = {
  /** Answers kept at this moment. */
  readonly entryCount: number;
  /** Bytes of their bodies, in all encodings, and of what is kept beside them. */
  readonly byteSize: number;
  /** Calls answered with a kept answer. */
  readonly hitCount: number;
  /** Calls that found none and began a run. */
  readonly missCount: number;
  /** Calls that found none and waited for a run begun by another. */
  readonly collapsedCount: number;
  /** Runs that made a kept answer anew, and succeeded. */
  readonly renewalCount: number;
  /** … and failed; the old answer stays until its time is over. */
  readonly renewalFailureCount: number;
  /** Answers that left before their time to make room. */
  readonly evictionCount: number;
};

/** What endpoint calls are doing, as plain numbers; counts are since the start. */
export type CallStats = {
  /** Runs the engine is not done with, renewals among them. */
  readonly runsUnderWay: number;
  readonly cache: CacheStats;
};

/** What a call asks: calls with the same `text` have the same answer at any one moment. */
export type CallKey = QueryCall & {
  /** Who asks. The answer does not depend on it. */
  readonly tenant: Tenant;
  /** Of the definition; a changed one has another. */
  readonly version: number;
  readonly text: string;
};

/** An answer in the cache. All times are milliseconds of the monotonic clock. */
export type KeptEntry = {
  readonly key: CallKey;
  readonly answer: KeptAnswer;
  /** When its run read the data. */
  readonly madeMs: number;
  /** When it is no longer given. */
  readonly endMs: number;
};

type Entry = KeptEntry & {
  key: CallKey;
  /** Who asked first: it counts as theirs, whoever else has it. */
  readonly tenant: Tenant;
  answer: KeptAnswer;
  madeMs: number;
  endMs: number;
  /** When a caller last asked for it again, after the call that it was made for; -Infinity: never. */
  calledAgainMs: number;
  /** When it may next be renewed; infinite where the definition says nothing of `warm`. */
  renewMs: number;
  /** As counted in the whole. */
  byteSize: number;
};

/**
 * Answers by what was asked, bounded in number and in bytes. Beyond, the tenant that has most loses those whose
 * last call is longest ago: so one alone may have everything, and nobody's questions push out the answers of a
 * tenant with less than its share. Time is an argument, in milliseconds of the monotonic clock.
 *
 * Invariant: `#byteSize` is the sum over the entries, `#byteSizes` that over the entries of each tenant, and no entry
 * is of a definition that was dropped.
 */
export class ResultCache {
  readonly #byteSizeMax: number;
  readonly #entryCountMax: number;
  readonly #entries = new Map<string, Entry>();
  /** Those of each tenant, in the order of their last calls. */
  readonly #ofTenants = new TenantSets<Entry>();
  readonly #byteSizes = new Map<Tenant, number>();
  /** The definition last called under an id, with its version. */
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

  /** Whether answers of the endpoint may be kept at all. */
  takes({ definition }: Endpoint): boolean {
    return definition.cacheS !== undefined && this.#byteSizeMax > 0;
  }

  /** Where the definition is another one than at the last call, what is kept of the old one goes. */
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

  /** What is kept and fresh. Counts as a call of it. */
  find(key: CallKey, nowMs: number): KeptEntry | undefined {
    const entry = this.#entries.get(key.text);
    if (entry === undefined) return undefined;
    entry.calledAgainMs = nowMs;
    // The last one called is the last to leave.
    this.#ofTenants.delete(entry.tenant, entry);
    this.#ofTenants.add(entry.tenant, entry);
    return entry.endMs > nowMs ? entry : undefined;
  }

  /**
   * Keeps an answer in the place of an older one. It is not kept when it is too large a part of the
   * whole, is over already, or when its definition was dropped since its run began; `false` says so.
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
      // The same bytes again: what is compressed of them stays good.
      Object.assign(old, { madeMs, endMs, renewMs });
      return true;
    }
    answer.whenGrown(() => this.#measure(key.text, answer));
    const made = { key, answer, madeMs, endMs, renewMs };
    if (old === undefined)
      this.#add({ ...made, tenant: key.tenant, calledAgainMs: NEVER, byteSize: 0 });
    // A renewal is no call: the new answer has the old one's place in the order of calls.
    else Object.assign(old, made);
    this.#measure(key.text, answer);
    // It leaves at once where it alone is more than its tenant's share.
    return this.#entries.has(key.text);
  }

  /** Puts off the next renewal of what is kept, one of which has failed. */
  putOffRenewal(key: CallKey, nowMs: number): void {
    const entry = this.#entries.get(key.text);
    const { warmS } = key.endpoint.definition;
    if (entry === undefined || warmS === undefined) return;
    entry.renewMs = nowMs + (warmS * 1000) / RENEWAL_RETRY_PARTS;
  }

  /**
   * Whether it is time to make the answer of this key anew: it is kept, old enough, and was called again within the
   * last `warm`. What was asked once may never be asked again.
   */
  isDue(key: CallKey, nowMs: number): boolean {
    const entry = this.#entries.get(key.text);
    if (entry === undefined || entry.endMs <= nowMs || entry.renewMs > nowMs) return false;
    const { warmS = 0 } = key.endpoint.definition;
    return nowMs - entry.calledAgainMs <= warmS * 1000;
  }

  /** All that are due, the oldest answer first. */
  listDue(nowMs: number): CallKey[] {
    return [...this.#entries.values()]
      .filter(({ key }) => this.isDue(key, nowMs))
      .sort((left, right) => left.madeMs - right.madeMs)
      .map(({ key }) => key);
  }

  /** Lets go of the answers whose time is over. */
  expire(nowMs: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.endMs <= nowMs) this.#remove(entry);
    }
  }

  /** Lets go of all answers of a definition, and of those still to come from runs under way. */
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

  /** Counts the bytes of an answer, which has grown, unless it has left. */
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

/** Whether callers get the same of both. */
function isSame(kept: KeptAnswer, made: KeptAnswer): boolean {
  return kept.digest === made.digest && kept.truncatedTo === made.truncatedTo;
}

const NEVER = Number.NEGATIVE_INFINITY;

/** The tenant with most bytes. */
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

/** How old an answer gets before it is made anew, at the latest with time left for the run. */
function renewalAgeMs(cacheMs: number, warmS: number | undefined): number {
  if (warmS === undefined) return Number.POSITIVE_INFINITY;
  return Math.min(warmS * 1000, cacheMs - cacheMs / RENEWAL_LEAD_PARTS);
}

/** Bytes an entry costs; V8 may need two for a character, and the values hold the key's texts again. */
function measureEntry(key: CallKey, answer: KeptAnswer): number {
  const queryBytes = key.callerQuery === undefined ? 0 : CACHE_CALLER_QUERY_BYTES;
  return answer.byteSize + 4 * key.text.length + queryBytes + CACHE_ENTRY_BYTES;
}
