import { must } from '../assert.ts';
import {
  OPEN_READERS_MAX,
  PASSING_BYTES_MAX,
  PASSING_GARBAGE_BYTES_MAX,
  SEALED_READERS_MAX,
} from '../limits.ts';
import { BackedSegment } from './backed-segment.ts';
import { collectGarbage } from './garbage.ts';
import { OpenSegmentReader, skeletonArraysOf, skeletonsOf } from './open-segment-reader.ts';
import { SealedSegmentReader } from './sealed-segment.ts';
import type { SealedSegmentHandle, Segment, SegmentHandle } from './segment.ts';
import { GAUGE_CLOCK } from './segment-backing.ts';
import { SegmentImage } from './segment-image.ts';
import type { Skeletons } from './skeleton.ts';
import type { DroppedSegments } from './snapshot.ts';

/** `clock`: what the gauge said; a reader from before would not tell that its columns are in use. */
type OpenedSegment = {
  readonly reader: SealedSegmentReader;
  readonly image: SegmentImage;
  readonly clock: number;
};

/** What this thread has opened, by id; the one unused for longest goes first. */
const sealedReaders = new Map<number, OpenedSegment>();
/** Segments that this task reads into memory of its own, likewise. */
const passingReaders = new Map<number, OpenedSegment>();
/** Of an open segment only what its skeletons say is kept: its rows grow. */
const openSkeletons = new Map<number, Skeletons>();

/** The segment behind a handle, as this thread reads it. */
export function readSegment(handle: SegmentHandle): Segment {
  if (handle.kind === 'sealed') {
    if (handle.backing === undefined) return openSealed(handle);
    return new BackedSegment(handle.backing, () => openSealed(handle));
  }
  const skeletons = openSkeletons.get(handle.id) ?? skeletonsOf(handle);
  remember(openSkeletons, OPEN_READERS_MAX, handle.id, skeletons);
  skeletons.extend(skeletonArraysOf(handle));
  return new OpenSegmentReader(handle, skeletons);
}

/**
 * Whether the task at hand reads segments into memory of its own, for want of room: what it keeps of
 * their rows it should copy, so that they can be let go.
 */
export function isReadingPassing(): boolean {
  return passingReaders.size > 0;
}

/**
 * At the end of a task: lets go of what it has read into memory of its own, and collects garbage when
 * much was let go, since nothing else would.
 */
export function endReading(): void {
  for (const [id, { image }] of passingReaders) letGo(passingReaders, id, image.passingSize);
  collectWhatWasLetGo();
}

/** How many segments were dropped when this thread was last told. */
let droppedCount = 0;

/** Lets go of the segments that are no more, and so of their memory. */
export function forgetDropped(dropped: DroppedSegments): void {
  const unheardCount = dropped.count - droppedCount;
  droppedCount = dropped.count;
  if (unheardCount > dropped.ids.length) {
    // Some went without this thread hearing which: what is left opens again when it is needed.
    for (const [id, { image }] of sealedReaders) letGo(sealedReaders, id, image.residentSize);
    openSkeletons.clear();
    return;
  }
  if (unheardCount <= 0) return;
  for (const id of dropped.ids.slice(-unheardCount)) {
    const image = sealedReaders.get(id)?.image;
    if (image !== undefined) letGo(sealedReaders, id, image.residentSize);
    openSkeletons.delete(id);
  }
}

function openSealed(handle: SealedSegmentHandle): SealedSegmentReader {
  const { id, backing } = handle;
  const clock = backing === undefined ? 0 : backing.gauge[GAUGE_CLOCK]!;
  const known = passingReaders.get(id) ?? sealedReaders.get(id);
  const opened = known?.clock === clock ? known : opening(handle, clock, known?.image);
  if (opened.image.isPassing) {
    remember(passingReaders, Number.POSITIVE_INFINITY, id, opened);
    boundPassing();
  } else {
    remember(sealedReaders, SEALED_READERS_MAX, id, opened);
  }
  return opened.reader;
}

function opening(
  handle: SealedSegmentHandle,
  clock: number,
  image: SegmentImage = SegmentImage.open(handle),
): OpenedSegment {
  return { reader: new SealedSegmentReader(image.buffer, image.need), image, clock };
}

/** Bytes let go since garbage was last collected. */
let garbageSize = 0;

/** Lets go of what was unused for longest, until little enough, or only the last, is left. */
function boundPassing(): void {
  let total = 0;
  for (const { image } of passingReaders.values()) total += image.passingSize;
  for (const [id, { image }] of passingReaders) {
    if (total <= PASSING_BYTES_MAX || passingReaders.size === 1) break;
    total -= image.passingSize;
    letGo(passingReaders, id, image.passingSize);
  }
  collectWhatWasLetGo();
}

function letGo(readers: Map<number, OpenedSegment>, id: number, size: number): void {
  readers.delete(id);
  garbageSize += size;
}

function collectWhatWasLetGo(): void {
  if (garbageSize < PASSING_GARBAGE_BYTES_MAX) return;
  collectGarbage();
  garbageSize = 0;
}

/** A Map lists its keys in the order they were set: the first is the one unused for longest. */
function remember<T>(kept: Map<number, T>, countMax: number, id: number, value: T): void {
  kept.delete(id);
  kept.set(id, value);
  if (kept.size > countMax) kept.delete(must(kept.keys().next().value));
}
