import type { SegmentHandle } from '../column/segment.ts';
import {
  type SegmentDamagedError,
  SegmentGoneError,
  SegmentReadError,
} from '../column/segment-image.ts';
import type { DroppedSegments, SegmentCatalog } from '../column/snapshot.ts';
import { UNREADABLE_TRIES_MAX } from '../limits.ts';
import { countSnapshot, type SnapshotCounts } from '../plan/explanation.ts';
import type { PhysicalScan } from '../plan/physical-plan.ts';
import { QueryError } from '../query-error.ts';
import { HeldSnapshot, type SnapshotScope } from './held-snapshot.ts';
import { Readers } from './readers.ts';

/** Which rows a scan reads. */
export type ScannedRows = Pick<PhysicalScan, 'source' | 'projectKey' | 'reach' | 'window'>;

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
