import { assert } from '../engine/assert.ts';
import type { Batch } from '../engine/column/batch.ts';
import { OpenSegment } from '../engine/column/open-segment.ts';
import type {
  OpenSegmentHandle,
  SealedSegmentHandle,
  SegmentHandle,
} from '../engine/column/segment.ts';
import type { ScanScope } from '../engine/column/snapshot.ts';
import { OPEN_ROWS_MAX } from '../engine/limits.ts';
import { FROZEN_SEGMENTS_MAX, SEAL_AGE_US } from './limits.ts';

/** Width of a partition in microseconds: one UTC day. */
export const PARTITION_US = 86_400_000_000;

/** The start of the oldest partition that is kept when all before `oldestUs` may go. */
export function oldestPartitionUs(oldestUs: number): number {
  return Math.floor(oldestUs / PARTITION_US) * PARTITION_US;
}

/** What a sealed segment says of itself without being read. */
export type SegmentSummary = {
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  /** Bytes. */
  readonly byteSize: number;
  /** False only when no row is of the project and none of mixed ones. */
  mayHoldProject(projectKey: string): boolean;
};

export type Sealing = {
  /**
   * Turns an open segment's published rows into sealed segments, at best one for each partition
   * (PARTITION_US) that they lie in. All rows must be in the answer, once. May be called again after it failed.
   */
  readonly seal: (
    handle: OpenSegmentHandle,
    origin: SealOrigin,
  ) => Promise<readonly SharedArrayBuffer[]>;
  readonly summarize: (buffer: SharedArrayBuffer) => SegmentSummary;
};

/** Which rows a segment is sealed from. */
export type SealOrigin = {
  readonly source: string;
  /** Every record of the source from the first to the last of these sequences, all their rows. */
  readonly firstSequence: number;
  readonly lastSequence: number;
};

/** A batch that is about to be appended. */
export type BatchOrigin = {
  /** Of its record in the log; 0 when there is no log. */
  readonly sequence: number;
  readonly arrivalBase: number;
  readonly rowCount: number;
};

export type RingStats = {
  /** Published rows. */
  readonly rowCount: number;
  /** Bytes of segments, without what they hold in reserve. */
  readonly byteSize: number;
  readonly sealedCount: number;
  readonly frozenCount: number;
  /** The same by kind. */
  readonly segments: Readonly<
    Record<'open' | 'frozen' | 'sealed', { readonly count: number; readonly byteSize: number }>
  >;
  readonly sealFailureCount: number;
  /** Microseconds; `undefined` while there is no row. */
  readonly timestampUsMin: number | undefined;
  readonly timestampUsMax: number | undefined;
};

type SealedSegment = { readonly handle: SealedSegmentHandle; readonly summary: SegmentSummary };

/** Sealed segments whose newest rows are of one UTC day. */
type Partition = { readonly day: number; readonly segments: SealedSegment[] };

/**
 * `pending`: holds rows of the batch under way, not to be sealed yet. `sealing`: handed to the
 * sealer. `failed`: to be handed to it again.
 */
type FrozenSegment = OpenRows & { state: 'pending' | 'sealing' | 'failed' };

/** An open segment and the records that its published rows are from. */
type OpenRows = {
  readonly segment: OpenSegment;
  readonly firstSequence: number;
  lastSequence: number;
};

/** Numbers segments, and hears of those that are no more. */
export type SegmentIds = {
  readonly next: () => number;
  readonly drop: (id: number) => void;
};

/**
 * All rows of one source: partitions of sealed segments, oldest first, frozen segments that wait to
 * be sealed, and one open segment.
 *
 * Invariant: each published row is in exactly one segment of every snapshot. Whatever moves rows
 * from one to another does so within one turn of the event loop, and snapshots are taken between.
 */
export class SegmentRing {
  readonly #source: string;
  readonly #sealing: Sealing;
  readonly #ids: SegmentIds;
  readonly #partitions: Partition[] = [];
  readonly #frozen: FrozenSegment[] = [];
  readonly #sealingsUnderWay = new Set<Promise<void>>();
  #open: OpenRows | undefined;
  /** When a tick first saw rows in the open segment. */
  #openSinceUs: number | undefined;
  #arrivalNext = 0;
  #underWay: BatchOrigin | undefined;
  #sealFailureCount = 0;
  #sealError: unknown;

  constructor(source: string, sealing: Sealing, ids: SegmentIds) {
    this.#source = source;
    this.#sealing = sealing;
    this.#ids = ids;
  }

  /** Whether sealing is so far behind that no more rows should come. */
  get isOverloaded(): boolean {
    return this.#frozen.length > FROZEN_SEGMENTS_MAX;
  }

  /** Arrival numbers for the rows of a batch, which will be appended in this order; the first. */
  reserveArrivals(rowCount: number): number {
    const arrivalBase = this.#arrivalNext;
    this.#arrivalNext += rowCount;
    return arrivalBase;
  }

  /** From now on arrival numbers begin at `arrival`, or where they would anyway. */
  skipArrivals(arrival: number): void {
    this.#arrivalNext = Math.max(this.#arrivalNext, arrival);
  }

  /**
   * Begins a batch, whose rows then come by `append`. All of them go into one segment, so that a
   * record of the log is sealed as a whole; and one whose arrivals go on without a gap.
   */
  begin(origin: BatchOrigin): void {
    const { sequence, arrivalBase, rowCount } = origin;
    this.#underWay = origin;
    if (this.#open !== undefined) {
      const { segment } = this.#open;
      const isGap = arrivalBase !== segment.arrivalBase + segment.rowCount;
      if (isGap || segment.isFull || segment.rowCount + rowCount > OPEN_ROWS_MAX) this.#freeze();
    }
    this.#open ??= {
      segment: new OpenSegment({ id: this.#ids.next(), arrivalBase }),
      firstSequence: sequence,
      lastSequence: sequence,
    };
  }

  /** Appends rows of the batch begun, that no one sees before `publish`. */
  append(batch: Batch, fromRow: number, toRow: number): void {
    assert(this.#open !== undefined && this.#underWay !== undefined, 'a batch has begun');
    this.#open.segment.append(batch, fromRow, toRow);
  }

  /** Makes all appended rows visible at once, and seals what is full. */
  publish(): void {
    assert(this.#open !== undefined && this.#underWay !== undefined, 'a batch has begun');
    this.#open.segment.publish();
    this.#open.lastSequence = this.#underWay.sequence;
    this.#underWay = undefined;
    if (this.#open.segment.isFull) this.#freeze();
    this.#sealFrozen('pending');
  }

  /** Gives up the rows appended since `publish`: no one has seen them, no one will. */
  abandon(): void {
    if (this.#open !== undefined) this.#freeze();
    // A segment keeps what it was given, but what is sealed of it is what it had published.
    for (const frozen of [...this.#frozen]) {
      if (frozen.segment.handle().rowCount === 0)
        this.#frozen.splice(this.#frozen.indexOf(frozen), 1);
    }
    this.#underWay = undefined;
    this.#sealFrozen('pending');
  }

  /** Seals an open segment with rows. Not between `append` and `publish`. */
  sealOpen(): void {
    assert(this.#underWay === undefined, 'no batch is half appended');
    if (this.#open !== undefined) this.#freeze();
    this.#sealFrozen('pending');
  }

  /** Tries again to seal what failed, seals what is old and drops what is older than `oldestUs`. */
  tick(nowUs: number, oldestUs: number): void {
    this.#sealFrozen('failed');
    if (this.#open !== undefined && this.#underWay === undefined) {
      this.#openSinceUs ??= nowUs;
      if (nowUs - this.#openSinceUs >= SEAL_AGE_US) this.sealOpen();
    }
    while (
      this.#partitions.length > 0 &&
      (this.#partitions[0]!.day + 1) * PARTITION_US <= oldestUs
    ) {
      const partition = this.#partitions.shift();
      for (const { handle } of partition?.segments ?? []) this.#ids.drop(handle.id);
    }
  }

  /** The first record with rows that are in no sealed segment yet; `undefined` when all are. */
  get firstUnsealedSequence(): number | undefined {
    return (this.#frozen[0] ?? this.#open)?.firstSequence;
  }

  /** After one of the sealings under way has ended, well or not; at once when there is none. */
  async sealedNext(): Promise<void> {
    if (this.#sealingsUnderWay.size > 0) await Promise.race(this.#sealingsUnderWay);
  }

  /** After every sealing under way has ended, well or not. */
  async sealed(): Promise<void> {
    while (this.#sealingsUnderWay.size > 0) await Promise.all(this.#sealingsUnderWay);
  }

  /** The newest error of a segment that waits to be sealed again; `undefined` when none does. */
  get sealError(): unknown {
    return this.#frozen.some((frozen) => frozen.state === 'failed') ? this.#sealError : undefined;
  }

  /** Every published row of the scope, in segments; oldest partitions first. */
  segments(scope: ScanScope): SegmentHandle[] {
    const handles: SegmentHandle[] = [];
    for (const partition of this.#partitions) {
      if (partition.day * PARTITION_US + PARTITION_US <= scope.timestampUsStart) continue;
      for (const { handle, summary } of partition.segments) {
        if (!overlaps(summary, scope)) continue;
        const { projectKey } = scope;
        if (projectKey === undefined || summary.mayHoldProject(projectKey)) handles.push(handle);
      }
    }
    for (const segment of this.#unsealed()) {
      const handle = segment.handle(scope.projectKey);
      if (handle.rowCount > 0 && overlaps(handle, scope) && hasChain(handle)) handles.push(handle);
    }
    return handles;
  }

  stats(): RingStats {
    let rowCount = 0;
    let byteSize = 0;
    let sealedCount = 0;
    let timestampUsMin = Number.POSITIVE_INFINITY;
    let timestampUsMax = Number.NEGATIVE_INFINITY;
    for (const { summary } of this.#partitions.flatMap((partition) => partition.segments)) {
      rowCount += summary.rowCount;
      byteSize += summary.byteSize;
      sealedCount++;
      timestampUsMin = Math.min(timestampUsMin, summary.timestampUsMin);
      timestampUsMax = Math.max(timestampUsMax, summary.timestampUsMax);
    }
    const sealedSize = byteSize;
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
      sealedCount,
      frozenCount: this.#frozen.length,
      segments: {
        open: { count: this.#open === undefined ? 0 : 1, byteSize: openSize },
        frozen: { count: this.#frozen.length, byteSize: byteSize - sealedSize - openSize },
        sealed: { count: sealedCount, byteSize: sealedSize },
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
      const underWay = this.#seal(frozen).finally(() => this.#sealingsUnderWay.delete(underWay));
      this.#sealingsUnderWay.add(underWay);
    }
  }

  /** Never rejects: a segment that cannot be sealed stays as it is, and readable. */
  async #seal(frozen: FrozenSegment): Promise<void> {
    try {
      const handle = frozen.segment.handle();
      const { firstSequence, lastSequence } = frozen;
      const origin = { source: this.#source, firstSequence, lastSequence };
      const buffers = await this.#sealing.seal(handle, origin);
      const sealed = buffers.map((buffer) => this.#sealedSegment(buffer));
      const rowCount = sealed.reduce((sum, segment) => sum + segment.summary.rowCount, 0);
      if (rowCount !== handle.rowCount) {
        throw new Error(`sealing made ${rowCount} rows of ${handle.rowCount}`);
      }
      this.#frozen.splice(this.#frozen.indexOf(frozen), 1);
      this.#ids.drop(handle.id);
      for (const segment of sealed) this.#addSealed(segment);
    } catch (error) {
      frozen.state = 'failed';
      this.#sealFailureCount++;
      this.#sealError = error;
    }
  }

  #sealedSegment(buffer: SharedArrayBuffer): SealedSegment {
    const handle: SealedSegmentHandle = { kind: 'sealed', id: this.#ids.next(), buffer };
    return { handle, summary: this.#sealing.summarize(buffer) };
  }

  #addSealed(segment: SealedSegment): void {
    const day = Math.floor(segment.summary.timestampUsMax / PARTITION_US);
    let index = this.#partitions.length;
    while (index > 0 && this.#partitions[index - 1]!.day > day) index--;
    const partition = this.#partitions[index - 1];
    if (partition?.day === day) partition.segments.push(segment);
    else this.#partitions.splice(index, 0, { day, segments: [segment] });
  }
}

type TimeRange = { readonly timestampUsMin: number; readonly timestampUsMax: number };

function overlaps(range: TimeRange, scope: ScanScope): boolean {
  return (
    range.timestampUsMax >= scope.timestampUsStart && range.timestampUsMin < scope.timestampUsEnd
  );
}

/** Whether any row may be of the project asked for. */
function hasChain(handle: OpenSegmentHandle): boolean {
  const { chains } = handle;
  return chains === undefined || chains.projectHead >= 0 || chains.mixedHead >= 0;
}
