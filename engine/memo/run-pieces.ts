import { DefaultDeserializer, DefaultSerializer } from 'node:v8';
import { must } from '../assert.ts';
import type { Segment } from '../column/segment.ts';
import { INLINE_PARTIALS_BYTES_MAX } from '../limits.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import type { ScanCounters } from '../operator/scan.ts';
import { type ExecutionContext, executeFragment, withinWindow } from '../plan/execute.ts';
import { ALL_TIME, type TimeWindow } from '../plan/logical-plan.ts';
import { breakerOf, type PhysicalPlan, scansOf } from '../plan/physical-plan.ts';

/**
 * A partial state on its way between threads. A large one is packed: the main thread hands its bytes from one worker to
 * another and never looks into them, so that nobody waits while a state of many groups is copied there.
 */
export type SentPartial = AggregatePartial | PackedPartial;

/** A state, and apart from it those of its arrays that are large: their memory is moved as it is. */
type PackedPartial = {
  readonly packed: Uint8Array<ArrayBuffer>;
  readonly arrays: readonly ArrayBufferView<ArrayBuffer>[];
};

/** Packs a state that is too large to be combined on the main thread. Ends the use of what made the state. */
export function packLarge(partial: SentPartial): SentPartial {
  const isLarge = partialSize(partial, INLINE_PARTIALS_BYTES_MAX) > INLINE_PARTIALS_BYTES_MAX;
  if (!isLarge || isPacked(partial)) return partial;
  const serializer = new StateSerializer();
  serializer.writeHeader();
  serializer.writeValue(partial);
  const { buffer, byteOffset, byteLength } = serializer.releaseBuffer();
  const packed = new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
  return { packed, arrays: serializer.arrays };
}

/** The state. The large arrays of a packed one are part of it from now on. */
export function unpacked(partial: SentPartial): AggregatePartial {
  if (!isPacked(partial)) return partial;
  const deserializer = new StateDeserializer(partial.packed, partial.arrays);
  deserializer.readHeader();
  return deserializer.readValue() as AggregatePartial;
}

/** The state, to be kept; `undefined` if it is packed and takes more than `bytesMax` bytes: then nothing is unpacked. */
export function unpackedWithin(
  partial: SentPartial,
  bytesMax: number,
): AggregatePartial | undefined {
  if (!isPacked(partial)) return partial;
  const { packed, arrays } = partial;
  const byteSize = arrays.reduce((sum, { byteLength }) => sum + byteLength, packed.byteLength);
  if (byteSize > bytesMax) return undefined;
  // Of a copy: arrays of the state may lie in these bytes, and they may be moved to another thread.
  return unpacked(structuredClone(partial));
}

/** The buffers of those that are packed: to be moved to another thread, not copied. */
export function packedBuffersOf(partials: readonly SentPartial[]): readonly ArrayBuffer[] {
  const views = partials.flatMap((partial) =>
    isPacked(partial) ? [partial.packed, ...partial.arrays] : [],
  );
  return [...new Set(views.map(({ buffer }) => buffer))];
}

/** Bytes of an array from which it is moved: smaller ones may share their memory with others. */
const MOVED_BYTES_MIN = 65_536;

/** In place of the number of an array that is moved, counted from 1: it follows as it is. */
const NOT_MOVED = 0;

type HostObjects = {
  _writeHostObject(this: DefaultSerializer, view: ArrayBufferView): void;
  _readHostObject(this: DefaultDeserializer): ArrayBufferView;
};

/** The methods by which `node:v8` writes and reads arrays (nodejs.org/api/v8.html); its types leave them out. */
const { _writeHostObject: writeArray } = DefaultSerializer.prototype as unknown as HostObjects;
const { _readHostObject: readArray } = DefaultDeserializer.prototype as unknown as HostObjects;

class StateSerializer extends DefaultSerializer {
  readonly arrays: ArrayBufferView<ArrayBuffer>[] = [];

  _writeHostObject(view: ArrayBufferView): void {
    const isMoved = view.byteLength >= MOVED_BYTES_MIN && isOwnMemory(view);
    this.writeUint32(isMoved ? this.arrays.push(view) : NOT_MOVED);
    if (!isMoved) writeArray.call(this, view);
  }
}

class StateDeserializer extends DefaultDeserializer {
  readonly #arrays: readonly ArrayBufferView<ArrayBuffer>[];

  constructor(packed: Uint8Array, arrays: readonly ArrayBufferView<ArrayBuffer>[]) {
    super(packed);
    this.#arrays = arrays;
  }

  _readHostObject(): ArrayBufferView {
    const number = this.readUint32();
    return number === NOT_MOVED ? readArray.call(this) : this.#arrays[number - 1]!;
  }
}

function isOwnMemory(view: ArrayBufferView): view is ArrayBufferView<ArrayBuffer> {
  return view.buffer instanceof ArrayBuffer;
}

function isPacked(partial: SentPartial): partial is PackedPartial {
  return 'packed' in partial;
}

/** What a value of some parts costs beside them, and a typed array beside its bytes. */
const OBJECT_BYTES = 32;
const ARRAY_BYTES = 160;

/**
 * About how many bytes a partial state takes, with all that its arrays keep in memory; or some number above
 * `bytesMax`, as soon as that is sure.
 */
export function partialSize(partial: unknown, bytesMax = Number.POSITIVE_INFINITY): number {
  const buffers = new Set<ArrayBufferLike>();
  let size = 0;
  const waiting: unknown[] = [partial];
  while (waiting.length > 0 && size <= bytesMax) {
    const value = waiting.pop();
    if (typeof value === 'string') size += 2 * value.length;
    if (typeof value !== 'object' || value === null) {
      size += 8;
    } else if (ArrayBuffer.isView(value)) {
      size += ARRAY_BYTES;
      if (!buffers.has(value.buffer)) size += value.buffer.byteLength;
      buffers.add(value.buffer);
    } else {
      size += OBJECT_BYTES;
      const parts = Object.values(value);
      // Each takes at least so many.
      if (size + 8 * parts.length > bytesMax) return size + 8 * parts.length;
      for (const part of parts) waiting.push(part);
    }
  }
  return size;
}

/** Which rows of a segment are to be looked at. */
export type PieceOrder = {
  readonly window: TimeWindow;
  /**
   * There when these are all that it has: from so many rows on their state is one to be remembered, and of those with fewer
   * one is made together.
   */
  readonly keptRowsMin?: number | undefined;
  /** There are rows to come: of few no state is kept, and all is said of those before. */
  readonly isGrowing?: boolean;
  /** The state of rows before these, which is taken into theirs. */
  readonly base?: AggregatePartial | undefined;
};

/** `rowCount`: rows looked at for it. */
export type KeptResult = { readonly partial: SentPartial; readonly rowCount: number };

export type PiecesResult = {
  /** By the index of the piece; `undefined` where nothing is kept. */
  readonly kept: readonly (KeptResult | undefined)[];
  /** Of the segments with few rows. */
  readonly together?: TogetherResult | undefined;
  /** Of all other rows. */
  readonly others: readonly SentPartial[];
};

export type TogetherResult = KeptResult & {
  /** Which of the pieces. */
  readonly indexes: readonly number[];
};

/** All states of a result. */
export function partialsOf({ kept, together, others }: PiecesResult): readonly SentPartial[] {
  return [
    ...others,
    ...kept.flatMap((result) => result?.partial ?? []),
    ...(together === undefined ? [] : [together.partial]),
  ];
}

/** The same result with its large states packed. */
export function packLargeOf({ kept, together, others }: PiecesResult): PiecesResult {
  const packed = <T extends KeptResult>(result: T): T => ({
    ...result,
    partial: packLarge(result.partial),
  });
  return {
    kept: kept.map((result) => result && packed(result)),
    together: together && packed(together),
    others: others.map(packLarge),
  };
}

/**
 * Runs a plan up to the grouping it may be cut at over pieces of segments: the segments of the context's
 * only scan, one for each order.
 */
export function runPieces(
  plan: PhysicalPlan,
  context: ExecutionContext & { readonly counters: ScanCounters },
  orders: readonly PieceOrder[],
): PiecesResult {
  const segments = must(context.segments[0], 'a plan that may be cut has one scan');
  const scan = must(scansOf(must(breakerOf(plan)))[0], 'a plan that may be cut has one scan');
  const { projectKey } = context.bounds?.[scan.index] ?? scan;
  const areEnough = (segment: Segment, rowsMin: number): boolean =>
    segment.rowCount >= rowsMin &&
    segment.countRows({ projectKey, ...ALL_TIME }, rowsMin) >= rowsMin;
  const run = (
    window: TimeWindow,
    some: readonly Segment[],
    base?: AggregatePartial,
  ): AggregatePartial =>
    executeFragment(plan, withinWindow({ ...context, segments: [some] }, scan, window), base);
  const kept: (KeptResult | undefined)[] = [];
  const few: { readonly index: number; readonly window: TimeWindow; readonly segment: Segment }[] =
    [];
  const others = new Map<string, { readonly window: TimeWindow; readonly segments: Segment[] }>();
  for (const [index, { window, keptRowsMin, isGrowing, base }] of orders.entries()) {
    const segment = must(segments[index]);
    if (base !== undefined || (keptRowsMin !== undefined && areEnough(segment, keptRowsMin))) {
      const rowCountBefore = rowsSeen(context.counters);
      const partial = run(window, [segment], base);
      kept[index] = { partial, rowCount: rowsSeen(context.counters) - rowCountBefore };
      continue;
    }
    kept[index] = undefined;
    if (keptRowsMin !== undefined && isGrowing !== true) {
      few.push({ index, window, segment });
      continue;
    }
    const key = `${window.startUs} ${window.endUs}`;
    const together = others.get(key) ?? { window, segments: [] };
    together.segments.push(segment);
    others.set(key, together);
  }
  const rowCountBefore = rowsSeen(context.counters);
  // All of their rows are inside of each of their windows.
  const [first] = few;
  const partial =
    first &&
    run(
      first.window,
      few.map(({ segment }) => segment),
    );
  const rowCount = rowsSeen(context.counters) - rowCountBefore;
  return {
    kept,
    together: partial && { indexes: few.map(({ index }) => index), partial, rowCount },
    others: Array.from(others.values(), (together) => run(together.window, together.segments)),
  };
}

function rowsSeen({ rowsScanned, rowsSkipped }: ScanCounters): number {
  return rowsScanned + rowsSkipped;
}
