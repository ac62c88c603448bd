import { assert, must } from '../assert.ts';
import type {
  DroppedSegments,
  SegmentCatalog,
  SegmentHandle,
  TimeScope,
} from '../column/segment.ts';
import {
  type SegmentDamagedError,
  SegmentGoneError,
  SegmentReadError,
} from '../column/segment-image.ts';
import { UNREADABLE_TRIES_MAX } from '../limits.ts';
import { countSnapshot, type SnapshotCounts } from '../plan/explanation.ts';
import type { PhysicalScan } from '../plan/physical-plan.ts';
import { QueryError } from '../query-error.ts';

/** What a snapshot is of. */
export type SnapshotScope = TimeScope & {
  readonly source: string;
  /** The one project that runs over it ask for; absent: they ask for any, or all. */
  readonly projectKey?: string | undefined;
};

/** What a scan of a run wants of its source. */
type WantedRows = {
  readonly source: string;
  readonly projectKey?: string | undefined;
  readonly window: { readonly startUs: number; readonly endUs: number };
};

/**
 * The segments of one source as they were at one moment, for several runs that should see the same rows. To be released:
 * until then files that were replaced stay on disk, and memory of open segments is held.
 */
export class HeldSnapshot {
  /** What threads were to forget then: they forget what was dropped since once more with their next task. */
  readonly dropped: DroppedSegments;
  readonly #scope: SnapshotScope;
  /** By the project key that scans ask for: an open segment's handle has its rows chained for that project. */
  readonly #segments: ReadonlyMap<string | undefined, readonly SegmentHandle[]>;
  #release: (() => void) | undefined;

  /** `release` is called once. */
  constructor(catalog: SegmentCatalog, scope: SnapshotScope, release: () => void) {
    const { source, projectKey, timestampUsStart, timestampUsEnd } = scope;
    const keys = new Set([undefined, projectKey]);
    this.dropped = catalog.dropped();
    this.#scope = scope;
    this.#segments = new Map(
      Array.from(keys, (key) => [
        key,
        catalog.segments(source, { projectKey: key, timestampUsStart, timestampUsEnd }),
      ]),
    );
    this.#release = release;
  }

  /** The segments with all rows that a scan wants; `undefined` if it wants others than the snapshot is of. */
  segmentsFor({ source, projectKey, window }: WantedRows): readonly SegmentHandle[] | undefined {
    assert(this.#release !== undefined, 'a snapshot is read before it is released');
    const { source: own, timestampUsStart, timestampUsEnd } = this.#scope;
    if (source !== own) return undefined;
    if (window.startUs < timestampUsStart || window.endUs > timestampUsEnd) return undefined;
    // The handles for all projects will do for any.
    const handles = this.#segments.get(projectKey) ?? must(this.#segments.get(undefined));
    return handles.filter((handle) => {
      const times = handle.kind === 'open' ? handle : handle.content;
      if (times === undefined) return true;
      return times.timestampUsMax >= window.startUs && times.timestampUsMin < window.endUs;
    });
  }

  /** May be called again. */
  release(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

/** Which rows a scan reads. */
type ScannedRows = Pick<PhysicalScan, 'source' | 'projectKey' | 'reach' | 'window'>;

const NO_DAYS: readonly number[] = [];

/** The segments that runs read, as the catalog has them, and who reads them now. */
export class ScannedSegments {
  readonly #catalog: SegmentCatalog;
  readonly readers = new Readers();

  constructor(catalog: SegmentCatalog) {
    this.#catalog = catalog;
  }

  /** The segments of a source now, for several runs. To be released. */
  hold(scope: SnapshotScope): HeldSnapshot {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    // Counts as one reader: files that it names stay.
    void this.readers.read(() => released);
    return new HeldSnapshot(this.#catalog, scope, release);
  }

  /** The snapshot of a scan: of `held` if that is of what the scan wants. */
  find(
    { source, projectKey, reach, window }: ScannedRows,
    {
      arrivalAfter,
      held,
    }: { readonly arrivalAfter?: number | undefined; readonly held?: HeldSnapshot | undefined },
  ): readonly SegmentHandle[] {
    if (reach?.length === 0) return [];
    const segments = held?.segmentsFor({ source, projectKey, window });
    if (segments !== undefined) return segments;
    return this.#catalog.segments(source, {
      projectKey,
      reach,
      timestampUsStart: window.startUs,
      timestampUsEnd: window.endUs,
      arrivalAfter,
    });
  }

  /** What threads are to forget. */
  dropped(): DroppedSegments {
    return this.#catalog.dropped();
  }

  /** To be asked for in the same turn as the snapshot. */
  findLostDays(scans: readonly PhysicalScan[]): readonly number[] {
    let found = NO_DAYS;
    for (const { source, reach, window } of scans) {
      if (reach?.length === 0) continue;
      const scope = { timestampUsStart: window.startUs, timestampUsEnd: window.endUs };
      const days = this.#catalog.lostDays?.(source, scope) ?? NO_DAYS;
      if (days.length > 0) found = [...found, ...days];
    }
    return found.length === 0 ? found : [...new Set(found)].sort((left, right) => left - right);
  }

  /** What the snapshot of a run left out; to be asked for in the same turn as the snapshot. */
  countLeftOut(scans: readonly PhysicalScan[]): readonly SnapshotCounts[] {
    return scans.map((scan) =>
      countSnapshot(scan, (scope) => this.#catalog.segments(scan.source, scope).length),
    );
  }

  /**
   * Does what can be done about a segment that could not be read. The next snapshot is another then: it is without what
   * could not be read. With `isLast`, no other will be taken.
   *
   * @throws QueryError `overloaded` if nothing can be done, and after the last try.
   */
  async mend(error: SegmentGoneError | SegmentDamagedError, isLast: boolean): Promise<void> {
    const isMended =
      error instanceof SegmentGoneError || (await this.#catalog.repair?.(error.segmentId)) === true;
    if (isLast || !isMended) throw unreadableFailure(error);
  }

  /** Nothing is to be changed by what the system refused to read. */
  noteUnread(error: unknown): void {
    if (error instanceof SegmentReadError) this.#catalog.noteUnread?.(error.segmentId, error);
  }
}

/** Of a query that could not be run without what it could not read. */
function unreadableFailure(cause: SegmentGoneError | SegmentDamagedError): QueryError {
  const message =
    cause instanceof SegmentGoneError
      ? `logs were removed or stored anew while the query read them, up to ${UNREADABLE_TRIES_MAX + 1} times in a row; try again later`
      : 'logs that the query reads are damaged, and could not be stored anew without what is lost; try again later';
  return new QueryError('overloaded', message, undefined, { cause });
}

/** What reads segments of a snapshot, until it has ended. */
class Readers {
  /** None rejects. */
  readonly #underWay = new Set<Promise<void>>();

  /** The snapshot that `work` reads is taken in the turn of the call, so that no reader goes unseen. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    const reading = work();
    const ended = reading.then(
      () => {},
      () => {},
    );
    this.#underWay.add(ended);
    try {
      return await reading;
    } finally {
      this.#underWay.delete(ended);
    }
  }

  /** Resolves once all that began before this call has ended. Never rejects. `undefined`: nothing is under way. */
  done(): Promise<void> | undefined {
    return this.#underWay.size === 0 ? undefined : Promise.all(this.#underWay).then(() => {});
  }
}
