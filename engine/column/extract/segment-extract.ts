import { assert, must } from '../../assert.ts';
import { findOnce } from '../caches.ts';
import { STRETCHES_SIZE_MAX } from '../file-blocks.ts';
import type { NumbersFooter } from '../number-values.ts';
import type { PositionsFooter } from '../positions.ts';
import {
  type LeafFooter,
  listValueSlices,
  type ResidualFooter,
  type SealedFooter,
  type StringColumnFooter,
} from '../sealed-layout.ts';
import { type BlockFooter, type Slice, type SliceSource, whenAsked } from '../slice.ts';
import { type Bounds, ExtractBuffer, SliceBytes, type SliceReader } from './slice-bytes.ts';
import {
  ENTRY_ALIGNMENT,
  type ExtractedPositions,
  type ExtractedSkeletons,
  extractPositions,
  extractSkeletons,
  ValuesExtract,
} from './values-extract.ts';

/**
 * Bytes in memory from which a segment is worth it that rows of a project are taken out: in a smaller one most columns are
 * a block or two.
 */
export const EXTRACT_IMAGE_BYTES_MIN = 4 * 1024 * 1024;

/** What a footer says of the rows of a segment, and of what tells their fields apart. */
export type RowColumns = Pick<
  SealedFooter,
  | 'keys'
  | 'skeletons'
  | 'rowSkeletons'
  | 'timestampsUs'
  | 'arrivals'
  | 'ids'
  | 'messages'
  | 'projects'
  | 'leaves'
  | 'residual'
>;

/**
 * Some consecutive rows of a sealed segment, in memory of their own: a segment of few rows, made of those bytes of
 * the large one that its rows need. Each column is taken out when it is first asked for; texts are found without an
 * index, by looking at each row.
 *
 * Rows of a project lie one behind the other, and so do their values in each column: in place of columns of
 * megabytes a few blocks are read.
 */
export class SegmentExtract {
  readonly rowCount: number;
  readonly columns: RowColumns;
  readonly #buffer: ExtractBuffer;

  /** `from` reads the segment of `footer`. `start` is a multiple of ENTRY_ALIGNMENT. */
  constructor(footer: SealedFooter, from: ImageReader, { start, end }: Bounds) {
    assert(
      start % ENTRY_ALIGNMENT === 0,
      'rows are taken out from where entries begin that are packed together',
    );
    this.rowCount = end - start;
    const size = Math.ceil((from.imageSize * this.rowCount) / footer.rowCount);
    this.#buffer = new ExtractBuffer(size);
    this.columns = new ExtractColumns(footer, {
      bytes: new SliceBytes(from),
      buffer: this.#buffer,
      rows: { start, end },
      size,
    });
  }

  get source(): SliceSource {
    return this.#buffer.source;
  }

  /** Bytes of memory. */
  get size(): number {
    return this.#buffer.size;
  }
}

/** Reads a segment of so many bytes in memory. */
export type ImageReader = SliceReader & { readonly imageSize: number };

type From = {
  readonly bytes: SliceBytes;
  readonly buffer: ExtractBuffer;
  readonly rows: Bounds;
  /** Bytes that the rows take in memory, about. */
  readonly size: number;
};

/** A query that names columns names fewer of them. Whoever asks for more wants the events. */
const LEAVES_NAMED_MAX = 8;

/** Of larger rows the blocks are too many to be kept until each column is asked for. */
const EXPECTED_SIZE_MAX = STRETCHES_SIZE_MAX / 2;

/** What is taken out of a segment, each column when it is first asked for. */
class ExtractColumns implements RowColumns {
  readonly leaves: readonly LeafFooter[];
  readonly #footer: SealedFooter;
  readonly #from: From;
  readonly #values: ValuesExtract;
  /** By the first of the leaves that are one column. */
  readonly #takenLeaves = new Map<number, TakenLeaf>();
  readonly #keys = whenAsked(() => this.#takeBlock(this.#footer.keys));
  readonly #skeletons = whenAsked(() => this.#takeSkeletons());
  readonly #timestampsUs = whenAsked(() => this.#takeNumbers('timestampsUs'));
  readonly #arrivals = whenAsked(() => this.#takeNumbers('arrivals'));
  readonly #ids = whenAsked(() => this.#takeStrings('ids'));
  readonly #messages = whenAsked(() => this.#takeStrings('messages'));
  readonly #projects = whenAsked(() => this.#takeStrings('projects'));
  readonly #residual = whenAsked(() => this.#takeResidual());

  constructor(footer: SealedFooter, from: From) {
    this.#footer = footer;
    this.#from = from;
    this.#values = new ValuesExtract(from.bytes, from.buffer);
    const firsts = firstLeavesOf(footer);
    this.leaves = footer.leaves.map((leaf, column) => {
      return new ExtractLeaf(leaf, () => this.#takeLeaf(leaf, must(firsts[column])));
    });
  }

  get keys(): BlockFooter {
    return this.#keys();
  }

  get skeletons(): SealedFooter['skeletons'] {
    return this.#skeletons().skeletons;
  }

  get rowSkeletons(): NumbersFooter {
    return this.#skeletons().rowSkeletons;
  }

  get timestampsUs(): NumbersFooter {
    return this.#timestampsUs();
  }

  get arrivals(): NumbersFooter {
    return this.#arrivals();
  }

  get ids(): StringColumnFooter {
    return this.#ids();
  }

  get messages(): StringColumnFooter {
    return this.#messages();
  }

  get projects(): StringColumnFooter {
    return this.#projects();
  }

  get residual(): ResidualFooter {
    return this.#residual();
  }

  #takeSkeletons(): ExtractedSkeletons {
    return extractSkeletons({ ...this.#from, values: this.#values }, this.#footer);
  }

  #takeNumbers(column: 'timestampsUs' | 'arrivals'): NumbersFooter {
    return this.#values.numbers(this.#footer[column], this.#from.rows);
  }

  #takeStrings(column: 'ids' | 'messages' | 'projects'): StringColumnFooter {
    const { positions, strings } = this.#footer[column];
    const { footer, bounds } = this.#takePositions(positions);
    return { positions: footer, strings: this.#values.strings(strings, bounds) };
  }

  #takeResidual(): ResidualFooter {
    const { positions, slots, strings } = this.#footer.residual;
    const taken = this.#takePositions(positions);
    const { start, end } = taken.bounds;
    const { bytes, buffer } = this.#from;
    return {
      positions: taken.footer,
      slots: buffer.add(bytes.bytes(slots, 8 * start, 8 * end)),
      strings: this.#takeBlock(strings),
    };
  }

  /** Leaves that are one column there are one here. */
  #takeLeaf(leaf: LeafFooter, first: number): TakenLeaf {
    const taken = this.#takenLeaves.get(first) ?? this.#takeNewLeaf(leaf);
    this.#takenLeaves.set(first, taken);
    return taken;
  }

  #takeNewLeaf({ positions, numbers, strings }: LeafFooter): TakenLeaf {
    if (this.#takenLeaves.size === LEAVES_NAMED_MAX) this.#expectValues();
    const { footer, bounds } = this.#takePositions(positions);
    return {
      positions: footer,
      numbers: numbers && this.#values.numbers(numbers, bounds),
      strings: strings && this.#values.strings(strings, bounds),
    };
  }

  /** Values lie in their arrays in the order of their rows, and so do most entries of dictionaries. */
  #expectValues(): void {
    const { bytes, rows, size } = this.#from;
    if (size > EXPECTED_SIZE_MAX) return;
    const { rowCount } = this.#footer;
    bytes.expect(
      valueSlicesOf(this.#footer).map(([offset, sliceSize]) => {
        const start = Math.floor((sliceSize * rows.start) / rowCount);
        return [offset + start, Math.ceil((sliceSize * rows.end) / rowCount) - start];
      }),
    );
  }

  #takePositions(footer: PositionsFooter): ExtractedPositions {
    return extractPositions(this.#from, footer);
  }

  #takeBlock({ count, bytes, offsets }: BlockFooter): BlockFooter {
    const copied = (slice: Slice): Slice => this.#from.buffer.add(this.#from.bytes.bytes(slice));
    return { count, bytes: copied(bytes), offsets: copied(offsets) };
  }
}

/** Of each leaf the first one that is the same column. */
const firstLeavesOf = findOnce((footer: SealedFooter): readonly number[] => {
  const firstOf = new Map<string, number>();
  return footer.leaves.map(({ positions, numbers, strings }, column) => {
    const origin = JSON.stringify([positions, numbers, strings]);
    const first = firstOf.get(origin) ?? column;
    firstOf.set(origin, first);
    return first;
  });
});

const valueSlicesOf = findOnce(listValueSlices);

type TakenLeaf = Pick<LeafFooter, 'positions' | 'numbers' | 'strings'>;

class ExtractLeaf implements LeafFooter {
  readonly path: LeafFooter['path'];
  readonly leafClass: LeafFooter['leafClass'];
  readonly #taken: () => TakenLeaf;

  constructor({ path, leafClass }: LeafFooter, take: () => TakenLeaf) {
    this.path = path;
    this.leafClass = leafClass;
    this.#taken = whenAsked(take);
  }

  get positions(): LeafFooter['positions'] {
    return this.#taken().positions;
  }

  get numbers(): LeafFooter['numbers'] {
    return this.#taken().numbers;
  }

  get strings(): LeafFooter['strings'] {
    return this.#taken().strings;
  }
}
