import {
  assert,
  type Batch,
  countThrough,
  must,
  OPEN_ROWS_MAX,
  OpenSegment,
  type OpenSegmentHandle,
  type ScanScope,
  type SegmentHandle,
} from '../engine/columns.ts';
import type { SegmentIds } from './held-segment.ts';
import { FROZEN_SEGMENTS_MAX, FROZEN_SEGMENTS_URGENT, SEAL_AGE_US } from './limits.ts';
import type { SealedSegments, SealedStats } from './sealed-segments.ts';
import { arrivedIn, overlaps } from './segment-partitions.ts';
import type { SegmentSummary } from './segment-summary.ts';

export type Sealing = {
  /**
   * Converts an open segment's published rows to sealed segments. The result must have each row exactly once. If
   * segments are stored in files, it has one segment for each partition (PARTITION_US) of the rows. May be called again
   * after a failure.
   */
  readonly seal: (handle: OpenSegmentHandle) => Promise<readonly SharedArrayBuffer[]>;
  readonly summarize: (buffer: SharedArrayBuffer) => SegmentSummary;
};

/** A batch to be appended. */
export type BatchOrigin = {
  /** The sequence of its log record; 0 if there is no log. */
  readonly sequence: number;
  readonly arrivalBase: number;
  readonly rowCount: number;
};

export type RingStats = {
  /** Number of published rows. */
  readonly rowCount: number;
  /** Bytes that segments take in memory, without their spare capacity. */
  readonly byteSize: number;
  readonly sealedCount: number;
  readonly frozenCount: number;
  /** Segment files. */
  readonly stored: { readonly count: number; readonly byteSize: number };
  readonly mergeCount: number;
  /** Number of failed writes, merges and removals of segment files. */
  readonly storageFailureCount: number;
  /** Segments by kind. */
  readonly segments: Readonly<
    Record<'open' | 'frozen' | 'sealed', { readonly count: number; readonly byteSize: number }>
  >;
  readonly sealFailureCount: number;
  /** In microseconds; `undefined` if there is no row. */
  readonly timestampUsMin: number | undefined;
  readonly timestampUsMax: number | undefined;
};

/**
 * `pending`: has rows of the batch under way, and must not be sealed yet. `sealing`: its sealing is under way.
 * `failed`: its sealing failed and will be retried.
 */
type FrozenSegment = OpenRows & { state: 'pending' | 'sealing' | 'failed' };

/** An open segment and the log records of its published rows. */
type OpenRows = {
  readonly segment: OpenSegment;
  readonly firstSequence: number;
  lastSequence: number;
};

/**
 * All rows of one source: sealed segments, frozen ones that wait to be sealed, and one open segment.
 *
 * Invariant: each published row is in exactly one segment of every snapshot. Rows move from one segment to another
 * within one turn of the event loop, and snapshots are taken between turns.
 */
export class SegmentRing {
  readonly #seal: Sealing['seal'];
  readonly #ids: SegmentIds;
  readonly #sealed: SealedSegments;
  readonly #frozen: FrozenSegment[] = [];
  readonly #sealingsUnderWay = new Set<Promise<void>>();
  #open: OpenRows | undefined;
  /** When a tick first saw rows in the open segment. */
  #openSinceUs: number | undefined;
  #arrivalNext = 0;
  #arrivalEnd = 0;
  #underWay: BatchOrigin | undefined;
  #sealFailureCount = 0;
  #sealError: unknown;

  constructor(parts: {
    readonly seal: Sealing['seal'];
    readonly ids: SegmentIds;
    readonly sealed: SealedSegments;
  }) {
    this.#seal = parts.seal;
    this.#ids = parts.ids;
    this.#sealed = parts.sealed;
  }

  /** Whether sealing is so far behind that no more rows are accepted. */
  get isOverloaded(): boolean {
    return this.#frozen.length > FROZEN_SEGMENTS_MAX;
  }

  /** Whether sealing is nearly that far behind. */
  get isSealUrgent(): boolean {
    return this.#frozen.length >= FROZEN_SEGMENTS_URGENT;
  }

  /** Reserves arrival numbers for the rows of a batch, which must be appended in this order. Returns the first. */
  reserveArrivals(rowCount: number): number {
    const arrivalBase = this.#arrivalNext;
    this.#arrivalNext += rowCount;
    return arrivalBase;
  }

  /** Sets the next arrival number to `arrival` if that is greater. */
  skipArrivals(arrival: number): void {
    this.#arrivalNext = Math.max(this.#arrivalNext, arrival);
    this.#arrivalEnd = this.#arrivalNext;
  }

  /** All published rows have lower arrival numbers, and all later rows have this or a higher one. */
  get arrivalEnd(): number {
    return this.#arrivalEnd;
  }

  /**
   * Begins a batch, whose rows follow by `append`, ascending. All of them go into one segment, so that a log record is
   * sealed as a whole.
   */
  begin(origin: BatchOrigin): void {
    const { sequence, arrivalBase, rowCount } = origin;
    this.#underWay = origin;
    if (this.#open !== undefined) {
      const { segment } = this.#open;
      if (segment.isFull || segment.rowCount + rowCount > OPEN_ROWS_MAX) this.#freeze();
    }
    this.#open ??= {
      segment: new OpenSegment({ id: this.#ids.next(), arrivalBase }),
      firstSequence: sequence,
      lastSequence: sequence,
    };
  }

  /** Appends rows of the current batch. They are invisible before `publish`. */
  append(batch: Batch, fromRow: number, toRow: number): void {
    assert(this.#open !== undefined && this.#underWay !== undefined, 'a batch has begun');
    this.#open.segment.append(batch, fromRow, toRow, this.#underWay.arrivalBase + fromRow);
  }

  /** Makes all appended rows visible at once, and seals a full segment. */
  publish(): void {
    assert(this.#open !== undefined && this.#underWay !== undefined, 'a batch has begun');
    this.#open.segment.publish();
    this.#open.lastSequence = this.#underWay.sequence;
    this.#arrivalEnd = this.#underWay.arrivalBase + this.#underWay.rowCount;
    this.#underWay = undefined;
    if (this.#open.segment.isFull) this.#freeze();
    this.#sealFrozen('pending');
  }

  /** Drops the rows appended since the last `publish`, which were never visible. */
  abandon(): void {
    if (this.#open !== undefined) this.#freeze();
    // The dropped rows remain in the segment's memory, but only published rows are sealed.
    for (const frozen of [...this.#frozen]) {
      if (frozen.segment.handle().rowCount === 0)
        this.#frozen.splice(this.#frozen.indexOf(frozen), 1);
    }
    this.#underWay = undefined;
    this.#sealFrozen('pending');
  }

  /** Seals the open segment if it has rows. Must not be called between `append` and `publish`. */
  sealOpen(): void {
    assert(this.#underWay === undefined, 'no batch is half appended');
    if (this.#open !== undefined) this.#freeze();
    this.#sealFrozen('pending');
  }

  /** Seals the open segment, unless a batch is partly appended. */
  sealWhenWhole(): void {
    if (this.#open !== undefined && this.#underWay === undefined) this.sealOpen();
  }

  /** Retries failed sealings, and seals an old open segment. */
  tick(nowUs: number): void {
    this.#sealFrozen('failed');
    if (this.#open !== undefined && this.#underWay === undefined) {
      this.#openSinceUs ??= nowUs;
      if (nowUs - this.#openSinceUs >= SEAL_AGE_US) this.sealOpen();
    }
  }

  /** The first record with rows that are in no sealed segment; `undefined` if there is none. */
  get firstUnsealedSequence(): number | undefined {
    return (this.#frozen[0] ?? this.#open)?.firstSequence;
  }

  /** The first record with rows in the open segment; `undefined` if it is empty. */
  get firstOpenSequence(): number | undefined {
    return this.#open?.firstSequence;
  }

  /** Settles when one of the sealings under way has ended, successful or not; at once if there is none. */
  async sealedNext(): Promise<void> {
    await this.sealing();
  }

  /** The sealing that ends next; `undefined` if none is under way. */
  sealing(): Promise<void> | undefined {
    return this.#sealingsUnderWay.size > 0 ? Promise.race(this.#sealingsUnderWay) : undefined;
  }

  /** Settles when every sealing under way has ended, successful or not. */
  async sealed(): Promise<void> {
    while (this.#sealingsUnderWay.size > 0) await Promise.all(this.#sealingsUnderWay);
  }

  /** The newest error of a segment that waits to be sealed again; `undefined` if none does. */
  get sealError(): unknown {
    return this.#frozen.some((frozen) => frozen.state === 'failed') ? this.#sealError : undefined;
  }

  /** Segments with every published row of the scope, oldest partitions first. */
  segments(scope: ScanScope): SegmentHandle[] {
    const handles: SegmentHandle[] = this.#sealed.handles(scope);
    for (const segment of this.#unsealed()) {
      const handle = withoutEarlier(segment.handle(scope.projectKey), scope);
      if (handle.rowCount === 0 || !arrivedIn(lastArrival(handle), scope)) continue;
      if (!overlaps(handle, scope) || !hasChain(handle)) continue;
      handles.push(segment === this.#open?.segment ? handle : { ...handle, isEnded: true });
    }
    return handles;
  }

  /** Bytes of frozen segments, including their spare capacity. */
  get frozenCapacity(): number {
    return this.#frozen.reduce((sum, { segment }) => sum + measureCapacity(segment.handle()), 0);
  }

  /** Bytes of the open segment, including its spare capacity. */
  get openCapacity(): number {
    return this.#open === undefined ? 0 : measureCapacity(this.#open.segment.handle());
  }

  stats(): RingStats {
    const sealed: SealedStats = this.#sealed.stats();
    let { rowCount, byteSize, timestampUsMin, timestampUsMax } = sealed;
    for (const segment of this.#unsealed()) {
      const handle = segment.handle();
      rowCount += handle.rowCount;
      byteSize += segment.byteSize;
      timestampUsMin = Math.min(timestampUsMin, handle.timestampUsMin);
      timestampUsMax = Math.max(timestampUsMax, handle.timestampUsMax);
    }
    const openSize = this.#open?.segment.byteSize ?? 0;
    return {
      rowCount,
      byteSize,
      sealedCount: sealed.segmentCount,
      frozenCount: this.#frozen.length,
      stored: { count: sealed.storedCount, byteSize: sealed.storedSize },
      mergeCount: sealed.mergeCount,
      storageFailureCount: sealed.storageFailureCount,
      segments: {
        open: { count: this.#open === undefined ? 0 : 1, byteSize: openSize },
        frozen: { count: this.#frozen.length, byteSize: byteSize - sealed.byteSize - openSize },
        sealed: { count: sealed.segmentCount, byteSize: sealed.byteSize },
      },
      sealFailureCount: this.#sealFailureCount,
      timestampUsMin: rowCount === 0 ? undefined : timestampUsMin,
      timestampUsMax: rowCount === 0 ? undefined : timestampUsMax,
    };
  }

  #unsealed(): OpenSegment[] {
    const segments = this.#frozen.map((frozen) => frozen.segment);
    return this.#open === undefined ? segments : [...segments, this.#open.segment];
  }

  #freeze(): void {
    assert(this.#open !== undefined, 'there is an open segment to freeze');
    this.#frozen.push({ ...this.#open, state: 'pending' });
    this.#open = undefined;
    this.#openSinceUs = undefined;
  }

  #sealFrozen(state: 'pending' | 'failed'): void {
    for (const frozen of this.#frozen) {
      if (frozen.state !== state) continue;
      frozen.state = 'sealing';
      const underWay = this.#sealOne(frozen).finally(() => this.#sealingsUnderWay.delete(underWay));
      this.#sealingsUnderWay.add(underWay);
    }
  }

  /** Never rejects: a segment that cannot be sealed stays frozen and readable. */
  async #sealOne(frozen: FrozenSegment): Promise<void> {
    try {
      const handle = frozen.segment.handle();
      const sealed = this.#sealed.add(await this.#seal(handle), frozen, handle.rowCount);
      const [only, ...others] = sealed;
      if (only !== undefined && others.length === 0) this.#ids.became([handle.content], only);
      this.#frozen.splice(this.#frozen.indexOf(frozen), 1);
      this.#ids.drop(handle.id, measureCapacity(handle));
      this.#ids.gone(handle.content);
    } catch (error) {
      frozen.state = 'failed';
      this.#sealFailureCount++;
      this.#sealError = error;
    }
  }
}

function measureCapacity({ arrays }: OpenSegmentHandle): number {
  return Object.values(arrays).reduce((sum, array) => sum + array.byteLength, 0);
}

/** Its rows without those that arrived too early: whoever follows a source reads the same segment once a second. */
function withoutEarlier(handle: OpenSegmentHandle, { arrivalAfter }: ScanScope): OpenSegmentHandle {
  if (arrivalAfter === undefined) return handle;
  const arrivals = handle.arrays.arrivals.subarray(0, handle.rowCount);
  const rowStart = countThrough(arrivals, arrivalAfter);
  return rowStart === 0 ? handle : { ...handle, rowStart };
}

/** The last arrival number of an open segment with rows; arrivals ascend. */
function lastArrival({ arrays, rowCount }: OpenSegmentHandle): number {
  return must(arrays.arrivals[rowCount - 1], 'the open segment has rows');
}

/** Whether any row may belong to the project of the scope. */
function hasChain(handle: OpenSegmentHandle): boolean {
  const { chains } = handle;
  return chains === undefined || chains.projectHead >= 0 || chains.mixedHead >= 0;
}
