import { assert, must } from '../assert.ts';
import type { PartRows } from './divide-rows.ts';
import type { Cut } from './excerpt-strings.ts';
import {
  type EncodedLeaf,
  type LeafPlan,
  planLeaves,
  RESIDUAL_COLUMN,
  withPlacesTold,
} from './leaf-plan.ts';
import {
  leafKey,
  type MergeInput,
  type MergeOrder,
  MergeSource,
  mergeOrder,
  type SegmentRows,
  viewOf,
  wholeInput,
} from './merge-input.ts';
import {
  mergeEnds,
  mergeNumbers,
  mergeStrings,
  PlaceReader,
  type ValueOrigins,
  valueOrigins,
} from './merge-values.ts';
import { encodeNumbers } from './number-values.ts';
import { encodePositions, type PositionsFooter } from './positions.ts';
import {
  type GroupsFooter,
  type LeafFooter,
  newSliceSink,
  type ResidualFooter,
  type SealedColumnName,
  type SealedFooter,
  type StringColumnFooter,
  writeSegment,
} from './sealed-layout.ts';
import { encodeSkeletons, SkeletonTable } from './skeleton-table.ts';
import { StringEncoder, type StringUse } from './string-encoding.ts';
import type { StringsFooter } from './string-footer.ts';
import { StringTable } from './string-table.ts';

/**
 * The rows of several sealed segments of one source as one: what sealing them at once would have
 * made, read by read, though columns may be packed differently. The arrivals of the segments must
 * be different. Takes a while: to be called in a worker.
 *
 * Values never become JavaScript objects. Numbers and packed strings are moved column by column, a
 * dictionary is looked at entry by entry. Only a leaf that some segment keeps among its rare ones is
 * taken value by value. Calls `checkpoint` before each segment and each column.
 */
export function mergeSegments(
  buffers: readonly SharedArrayBuffer[],
  checkpoint = () => {},
): SharedArrayBuffer {
  return new Merger(buffers.map(wholeInput), { checkpoint }).merge();
}

/** The same of the rows of a part. */
export function mergePart(
  segments: readonly SegmentRows[],
  part: PartRows,
  checkpoint = () => {},
): SharedArrayBuffer {
  const inputs = part.flatMap((rows, index) =>
    rows.start === rows.end ? [] : [must(segments[index]).input(rows)],
  );
  return new Merger(inputs, { checkpoint }).merge();
}

/**
 * A sealed segment without the values of some columns: where one stood, there is NULL. The lost
 * columns are not read. `structure` cannot be among them.
 */
export function repairSegment(
  buffer: SharedArrayBuffer,
  lost: readonly SealedColumnName[],
): SharedArrayBuffer {
  assert(!lost.includes('structure'), 'the rows of the segment can be told apart');
  return new Merger([wholeInput(buffer)], { lost: new Set(lost) }).merge();
}

type DeclaredColumn = 'id' | 'event_message' | 'project';

class Merger {
  readonly #sink = newSliceSink();
  /** Keys and names of projects. */
  readonly #names = new StringTable();
  readonly #skeletons = new SkeletonTable();
  readonly #sources: readonly MergeSource[];
  readonly #order: MergeOrder;
  readonly #checkpoint: () => void;

  constructor(
    inputs: readonly MergeInput[],
    options: {
      readonly lost?: ReadonlySet<SealedColumnName>;
      readonly checkpoint?: () => void;
    },
  ) {
    const { lost = new Set(), checkpoint = () => {} } = options;
    assert(inputs.length > 0, 'there is a segment to merge');
    const tables = { keys: this.#names, skeletons: this.#skeletons };
    this.#checkpoint = checkpoint;
    this.#sources = inputs.map((input) => {
      checkpoint();
      return new MergeSource(input, lost, tables);
    });
    checkpoint();
    this.#order = mergeOrder(this.#sources.map((source) => source.order));
  }

  merge(): SharedArrayBuffer {
    const { rowCount } = this.#order;
    const nameCodes = this.#internNames();
    const used = this.#usedSkeletons();
    const plan = planLeaves(used.tokens, used.rowCounts);
    const { bytes, offsets } = this.#names;
    const names = new StringEncoder(this.#sink, { bytes, offsets }, this.#names.count);
    this.#checkpoint();
    const timestampsUs = encodeNumbers(this.#sink, this.#perRow('timestampsUs'), rowCount);
    const arrivals = encodeNumbers(this.#sink, this.#perRow('arrivals'), rowCount, 'picked');
    const { keys, skeletons, paths, arrays } = encodeSkeletons(
      this.#sink,
      names,
      used.tokens,
      plan,
    );
    const byPlace = new PlaceReader(this.#sources, this.#order, plan, used.ofRow);
    const leaves = this.#leaves(plan, byPlace).map(
      (leaf, column): LeafFooter => ({
        path: paths[column]!,
        leafClass: plan.columns[column]!.leafClass,
        ...leaf,
      }),
    );
    const footer: SealedFooter = {
      rowCount,
      timestampUsMin: timestampsUs.min,
      timestampUsMax: timestampsUs.max,
      arrivalMin: arrivals.min,
      arrivalMax: arrivals.max,
      groups: this.#groups(names, nameCodes),
      keys,
      skeletons,
      rowSkeletons: encodeNumbers(this.#sink, used.ofRow, rowCount),
      timestampsUs,
      arrivals,
      ids: this.#declared('id', 'text'),
      messages: this.#declared('event_message', 'message'),
      projects: this.#declared('project', 'text'),
      leaves: withPlacesTold(leaves, arrays, plan),
      residual: this.#residual(byPlace),
    };
    return writeSegment(this.#sink, footer);
  }

  #internNames(): Float64Array {
    return Float64Array.from(this.#order.names, ({ segment, name }) => {
      const { bytes, offsets } = this.#sources[segment]!.order.names;
      return this.#names.intern(viewOf(bytes), offsets[name]!, offsets[name + 1]!);
    });
  }

  #groups(names: StringEncoder, codes: Float64Array): GroupsFooter {
    const { hasNone, hasMixed, groupStarts } = this.#order;
    return {
      hasNone,
      hasMixed,
      names: names.encodeBlock(codes, codes.length, new Int32Array(codes.length)),
      starts: this.#sink.add(groupStarts),
    };
  }

  /** The skeletons of the rows, renumbered by first appearance. */
  #usedSkeletons(): { tokens: Int32Array[]; rowCounts: number[]; ofRow: Float64Array } {
    const { rowCount, segments, rows } = this.#order;
    const numberOf = new Int32Array(this.#skeletons.count).fill(-1);
    const tokens: Int32Array[] = [];
    const rowCounts: number[] = [];
    const ofRow = new Float64Array(rowCount);
    for (let row = 0; row < rowCount; row++) {
      const source = this.#sources[segments[row]!]!;
      const skeleton = source.skeletons[source.rowSkeletons[rows[row]!]!]!;
      if (numberOf[skeleton]! < 0) {
        numberOf[skeleton] = tokens.length;
        const { starts } = this.#skeletons;
        tokens.push(this.#skeletons.tokens.subarray(starts[skeleton], starts[skeleton + 1]));
        rowCounts.push(0);
      }
      ofRow[row] = numberOf[skeleton]!;
      rowCounts[numberOf[skeleton]!]!++;
    }
    return { tokens, rowCounts, ofRow };
  }

  #perRow(column: 'timestampsUs' | 'arrivals'): Float64Array {
    const { rowCount, segments, rows } = this.#order;
    const columns = this.#sources.map((source) => source.order[column]);
    const values = new Float64Array(rowCount);
    for (let row = 0; row < rowCount; row++) values[row] = columns[segments[row]!]![rows[row]!]!;
    return values;
  }

  #declared(column: DeclaredColumn, use: StringUse): StringColumnFooter {
    this.#checkpoint();
    const footers = this.#sources.map((source) => {
      const { ids, messages, projects } = source.columns;
      if (source.isLost(column)) return undefined;
      return column === 'id' ? ids : column === 'project' ? projects : messages;
    });
    const origins = valueOrigins(
      this.#order,
      this.#sources,
      footers.map((footer) => footer?.positions),
    );
    const strings = footers.map((footer) => footer?.strings);
    return {
      positions: this.#positions({ ...origins, perRowMax: 1 }),
      strings: mergeStrings(this.#sink, this.#sources, strings, origins, use),
    };
  }

  #leaves(plan: LeafPlan, byPlace: PlaceReader): EncodedLeaf[] {
    const encoded = new Map<string, EncodedLeaf>();
    const byKey = new Map<string, { readonly column: number; readonly leaf: EncodedLeaf }>();
    const merged: EncodedLeaf[] = [];
    const columns = plan.columns.map((leaf, column) => {
      const key = leafKey(leaf);
      const footers = this.#sources.map((source) => source.findLeaf(key));
      return { leaf, column, key, footers, isInside: footers.some(isInAnother) };
    });
    const findWhole: FindWhole = (whole) => byKey.get(whole);
    // A column that lies in another comes after that one.
    for (const isInside of [false, true]) {
      const next = columns.filter((one) => one.isInside === isInside);
      for (const { leaf, column, key, footers } of next) {
        this.#checkpoint();
        let mergedLeaf: EncodedLeaf | undefined;
        if (byPlace.areInColumns(column, footers)) {
          mergedLeaf = footers.some(isExcerpt)
            ? this.#excerpt(footers, findWhole)
            : this.#sharedLeaf(encoded, footers, leaf, findWhole);
        }
        mergedLeaf ??= this.#leafByPlace(plan, column, byPlace);
        merged[column] = mergedLeaf;
        byKey.set(key, { column, leaf: mergedLeaf });
      }
    }
    return merged;
  }

  /** Excerpts of one column in every segment are excerpts of the merged one, if that can be cut. */
  #excerpt(
    footers: readonly (LeafFooter | undefined)[],
    findWhole: FindWhole,
  ): EncodedLeaf | undefined {
    let cut: Cut | undefined;
    let wholeKey: string | undefined;
    for (const [segment, footer] of footers.entries()) {
      if (footer === undefined) continue;
      const packing = footer.strings?.packing;
      if (packing?.kind !== 'excerpt') return undefined;
      const key = this.#sources[segment]!.keyOfLeaf(packing.column);
      if (cut !== undefined && (packing.cut !== cut || key !== wholeKey)) return undefined;
      cut = packing.cut;
      wholeKey = key;
    }
    const whole = wholeKey === undefined ? undefined : findWhole(wholeKey);
    const strings = whole?.leaf.strings;
    const canBeCut = strings?.packing.kind === 'split' && strings.packing.hasHeads;
    if (whole === undefined || cut === undefined || !canBeCut) return undefined;
    const { positions } = whole.leaf;
    const packing = { kind: 'excerpt', column: whole.column, cut } as const;
    const { entryCount } = strings;
    const excerpt = { entryCount, isDistinct: false, codes: null, packing };
    return { positions, numbers: null, strings: excerpt };
  }

  /** Columns that are one in every segment are one again. */
  #sharedLeaf(
    encoded: Map<string, EncodedLeaf>,
    footers: readonly (LeafFooter | undefined)[],
    leaf: LeafPlan['columns'][0],
    findWhole: FindWhole,
  ): EncodedLeaf {
    const origin = JSON.stringify([
      leaf.leafClass,
      footers.map((footer) => footer && [footer.positions, footer.numbers, footer.strings]),
    ]);
    const merged = encoded.get(origin) ?? this.#leaf(footers, leaf, findWhole);
    encoded.set(origin, merged);
    return merged;
  }

  #leaf(
    footers: readonly (LeafFooter | undefined)[],
    { leafClass, perRowMax }: LeafPlan['columns'][0],
    findWhole: FindWhole,
  ): EncodedLeaf {
    const origins = valueOrigins(
      this.#order,
      this.#sources,
      footers.map((footer) => footer?.positions),
    );
    const positions = this.#positions({ ...origins, perRowMax });
    if (leafClass === 'number') {
      const numbers = footers.map((footer) => footer?.numbers ?? undefined);
      return {
        positions,
        numbers: mergeNumbers(this.#sink, this.#sources, numbers, origins),
        strings: null,
      };
    }
    const strings = footers.map((footer) => footer?.strings ?? undefined);
    const use = leafClass === 'text' ? 'leaf' : 'verbatim';
    const whole = this.#wholeOf(strings, origins.count, findWhole);
    return {
      positions,
      numbers: null,
      strings:
        whole === undefined
          ? mergeStrings(this.#sink, this.#sources, strings, origins, use)
          : mergeEnds(this.#sink, this.#sources, strings, origins, whole),
    };
  }

  /**
   * The merged column in whose strings those of a column lie, as they do in every segment: in the
   * same one, and that is still plain or split. In each segment they stand in the same rows; as many values
   * in all then means that no segment has the one without the other.
   */
  #wholeOf(
    footers: readonly (StringsFooter | undefined)[],
    count: number,
    findWhole: FindWhole,
  ): number | undefined {
    const keys = new Set<string | undefined>();
    footers.forEach((footer, segment) => {
      if (footer === undefined) return;
      const { packing } = footer;
      const isEnd = packing.kind === 'suffix';
      keys.add(isEnd ? this.#sources[segment]!.keyOfLeaf(packing.column) : undefined);
    });
    const [key] = keys;
    if (key === undefined || keys.size > 1) return undefined;
    const whole = findWhole(key);
    const strings = whole?.leaf.strings;
    const kind = strings?.packing.kind;
    const isWhole = (kind === 'plain' || kind === 'split') && strings?.codes === null;
    return isWhole && strings.entryCount === count ? whole?.column : undefined;
  }

  #leafByPlace(plan: LeafPlan, column: number, byPlace: PlaceReader): EncodedLeaf {
    const { leafClass, valueCount, perRowMax } = plan.columns[column]!;
    const table = new StringTable();
    const { values, rows } = byPlace.read(column, valueCount, table);
    const positions = this.#positions({ rows, count: valueCount, perRowMax });
    if (leafClass === 'number') {
      return { positions, numbers: encodeNumbers(this.#sink, values, valueCount), strings: null };
    }
    const { bytes, offsets } = table;
    const encoder = new StringEncoder(this.#sink, { bytes, offsets }, table.count);
    const use = leafClass === 'text' ? 'leaf' : 'verbatim';
    return { positions, numbers: null, strings: encoder.encode(values, valueCount, use) };
  }

  #residual(byPlace: PlaceReader): ResidualFooter {
    const { valueCount, perRowMax } = byPlace.plan.residual;
    const table = new StringTable();
    const { values, rows } = byPlace.read(RESIDUAL_COLUMN, valueCount, table);
    const offsets = table.offsets.slice(0, table.count + 1);
    return {
      positions: this.#positions({ rows, count: valueCount, perRowMax }),
      slots: this.#sink.add(values),
      strings: {
        count: table.count,
        bytes: this.#sink.add(table.bytes.slice(0, table.byteSize)),
        offsets: this.#sink.add(offsets),
      },
    };
  }

  #positions({
    rows,
    count,
    perRowMax,
  }: Pick<ValueOrigins, 'rows' | 'count' | 'perRowMax'>): PositionsFooter {
    const column = { rows, valueCount: count, perRowMax };
    return encodePositions(this.#sink, column, this.#order.rowCount);
  }
}

/** A merged leaf that is there already, by `leafKey`. */
type FindWhole = (
  key: string,
) => { readonly column: number; readonly leaf: EncodedLeaf } | undefined;

function isInAnother(footer: LeafFooter | undefined): boolean {
  return footer?.strings?.packing.kind === 'suffix' || isExcerpt(footer);
}

function isExcerpt(footer: LeafFooter | undefined): boolean {
  return footer?.strings?.packing.kind === 'excerpt';
}
