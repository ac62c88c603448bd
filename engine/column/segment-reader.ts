import { OPEN_READERS_MAX, SEALED_READERS_MAX } from '../limits.ts';
import { OpenSegmentReader, skeletonArraysOf, skeletonsOf } from './open-segment-reader.ts';
import { SealedSegmentReader } from './sealed-segment.ts';
import type { Segment, SegmentHandle } from './segment.ts';
import type { Skeletons } from './skeleton.ts';
import type { DroppedSegments } from './snapshot.ts';

/** What this thread has opened, by id; the one unused for longest goes first. */
const sealedReaders = new Map<number, SealedSegmentReader>();
/** Of an open segment only what its skeletons say is kept: its rows grow. */
const openSkeletons = new Map<number, Skeletons>();

/** The segment behind a handle, as this thread reads it. */
export function readSegment(handle: SegmentHandle): Segment {
  if (handle.kind === 'sealed') {
    return remembered(sealedReaders, SEALED_READERS_MAX, handle.id, () => {
      return new SealedSegmentReader(handle.buffer);
    });
  }
  const skeletons = remembered(openSkeletons, OPEN_READERS_MAX, handle.id, () => {
    return skeletonsOf(handle);
  });
  skeletons.extend(skeletonArraysOf(handle));
  return new OpenSegmentReader(handle, skeletons);
}

/** How many segments were dropped when this thread was last told. */
let droppedCount = 0;

/** Lets go of the segments that are no more, and so of their memory. */
export function forgetDropped(dropped: DroppedSegments): void {
  const unheardCount = dropped.count - droppedCount;
  droppedCount = dropped.count;
  if (unheardCount > dropped.ids.length) {
    // Some went without this thread hearing which: what is left opens again when it is needed.
    sealedReaders.clear();
    openSkeletons.clear();
    return;
  }
  if (unheardCount <= 0) return;
  for (const id of dropped.ids.slice(-unheardCount)) {
    sealedReaders.delete(id);
    openSkeletons.delete(id);
  }
}

function remembered<T>(kept: Map<number, T>, countMax: number, id: number, make: () => T): T {
  const value = kept.get(id) ?? make();
  // A Map lists its keys in the order they were set: the first is the one unused for longest.
  kept.delete(id);
  kept.set(id, value);
  if (kept.size > countMax) {
    for (const oldest of kept.keys()) {
      kept.delete(oldest);
      break;
    }
  }
  return value;
}
