import { deserialize, serialize } from 'node:v8';
import { INLINE_PARTIALS_BYTES_MAX } from '../limits.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import { partialSize } from './partial-size.ts';

/**
 * A partial state on its way between threads. A large one is packed: the main thread hands its bytes from one worker to
 * another and never looks into them, so that nobody waits while a state of many groups is copied there.
 */
export type SentPartial = AggregatePartial | PackedPartial;

type PackedPartial = { readonly packed: Uint8Array<ArrayBuffer> };

/** Packs a state that is too large to be combined on the main thread. */
export function packLarge(partial: SentPartial): SentPartial {
  const isLarge = partialSize(partial, INLINE_PARTIALS_BYTES_MAX) > INLINE_PARTIALS_BYTES_MAX;
  return isLarge && !isPacked(partial) ? { packed: serialize(partial) } : partial;
}

export function unpacked(partial: SentPartial): AggregatePartial {
  return isPacked(partial) ? (deserialize(partial.packed) as AggregatePartial) : partial;
}

/** The state, to be kept; `undefined` if it is packed and takes more than `bytesMax` bytes: then nothing is unpacked. */
export function unpackedWithin(
  partial: SentPartial,
  bytesMax: number,
): AggregatePartial | undefined {
  if (!isPacked(partial)) return partial;
  const { packed } = partial;
  // Of a copy: arrays of the state may lie in these bytes, and they may be moved to another thread.
  return packed.byteLength > bytesMax ? undefined : unpacked({ packed: new Uint8Array(packed) });
}

/** The buffers of those that are packed: to be moved to another thread, not copied. */
export function packedBuffersOf(partials: readonly SentPartial[]): readonly ArrayBuffer[] {
  return partials.flatMap((partial) => (isPacked(partial) ? partial.packed.buffer : []));
}

function isPacked(partial: SentPartial): partial is PackedPartial {
  return 'packed' in partial;
}
