import { assert, must } from '../assert.ts';
import type { SegmentHandle } from '../column/segment.ts';
import type { DroppedSegments, SegmentCatalog, TimeScope } from '../column/snapshot.ts';

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
