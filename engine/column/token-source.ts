import { carvedInt32, carvedUint8, threadArrays } from './arrays.ts';
import { type ChunkRows, ListedRows, RangeRows } from './chunk-rows.ts';
import { JsonBuffer, type JsonWriter } from './json-buffer.ts';
import { JsonNested, readInteger } from './json-nested.ts';
import { writeNode, writeTemplate } from './json-template.ts';
import type { NumberValues } from './number-values.ts';
import { FIELD_IN_TEXT, type Skeletons, type SlotStore } from './skeleton.ts';
import { RootStep, type SkeletonStep } from './skeleton-step.ts';
import {
  BIG_INTEGER,
  EMPTY_LIST,
  endOfNode,
  FALSE_KIND,
  FLOAT,
  HUGE_NUMBER,
  INTEGER,
  JSON_TEXT,
  KIND_MASK,
  NODE_HEADER_SIZE,
  NULL_KIND,
  RECORD,
  RECORD_LIST,
  slotCount,
  TEXT,
  TRUE_KIND,
} from './token.ts';
import type { Nested, SqlValue } from './value.ts';
import {
  booleanVector,
  constantVector,
  FALSE,
  type NestedSource,
  type NestedVector,
  numberVector,
  TRUE,
  UNKNOWN,
  type UnnestedElements,
  type Vector,
  valueVector,
  vectorOf,
} from './vector.ts';
import { decodeWtf8 } from './wtf8.ts';

const NULLS = 1 << NULL_KIND;
const NUMBERS = (1 << INTEGER) | (1 << FLOAT);
const BOOLEANS = (1 << FALSE_KIND) | (1 << TRUE_KIND);
const TEXTS = 1 << TEXT;
const NESTED = (1 << EMPTY_LIST) | (1 << JSON_TEXT) | (1 << RECORD) | (1 << RECORD_LIST);

/** Where the fields of some records lie: per entry, the field's node and place, both -1 for NULL. */
type FoundFields = {
  readonly nodes: Int32Array;
  readonly places: Int32Array;
  /** Which kinds are among the fields, bit `1 << kind`; FIELD_IN_TEXT among the nodes as JSON_TEXT. */
  readonly kinds: number;
  /** Whether the field of some entry must be looked for in its text. */
  readonly someInText: boolean;
};

/** Records or lists that all came from the roots by the same steps: the skeleton tells the node. */
export class TrailVector {
  readonly kind = 'nested';
  readonly form = 'trail';
  readonly source: NestedSource;
  readonly chunk: ChunkRows;
  readonly count: number;
  readonly step: SkeletonStep;
  #nodes: Int32Array | undefined;

  constructor(source: NestedSource, chunk: ChunkRows, step: SkeletonStep) {
    this.source = source;
    this.chunk = chunk;
    this.count = chunk.count;
    this.step = step;
  }

  get rows(): Int32Array {
    return this.chunk.rows;
  }

  get nodes(): Int32Array {
    this.#nodes ??= this.step.nodes(this.chunk.codes, this.count);
    return this.#nodes;
  }

  /** One step further. */
  follow(step: SkeletonStep): TrailVector {
    return new TrailVector(this.source, this.chunk, step);
  }

  take(positions: Int32Array, count: number): TrailVector | undefined {
    const taken = this.chunk.take(positions, count);
    return taken && new TrailVector(this.source, taken, this.step);
  }
}

/**
 * Reads records and lists by the skeletons of a segment and the store of its slots.
 *
 * Where a query steps from the roots of a chunk down to a leaf, each step depends on the row's
 * skeleton alone: the vectors on such a trail know their step, and the next is taken once for each
 * distinct skeleton of the chunk. All other vectors (filtered rows, elements of longer lists) are
 * stepped through node by node; that is the plain form, and gives the same.
 */
export class TokenSource implements NestedSource {
  readonly #skeletons: Skeletons;
  readonly #store: SlotStore;
  readonly #rootStep: SkeletonStep;

  /** `rootStep`: of the same skeletons, where it is known what they say. */
  constructor(skeletons: Skeletons, store: SlotStore, rootStep = new RootStep(skeletons)) {
    this.#skeletons = skeletons;
    this.#store = store;
    this.#rootStep = rootStep;
  }

  /** The root records of `rows[0, count)`, given the skeleton of each. Keeps both arrays. */
  roots(rows: Int32Array, codes: Int32Array, count: number): NestedVector {
    const listed = rows.length === count ? rows : rows.slice(0, count);
    const chunk = new ListedRows(listed, codes, this.#skeletons.arrays.count);
    this.#rootStep.kinds(chunk.distinct);
    return new TrailVector(this, chunk, this.#rootStep);
  }

  /** The same of rows [start, start + count), given the skeletons of all rows; reads as little as it can. */
  rootsOfRange(start: number, count: number, skeletons: NumberValues): NestedVector {
    const chunk = new RangeRows({ start, count }, skeletons, this.#skeletons.arrays.count);
    this.#rootStep.kinds(chunk.distinct);
    return new TrailVector(this, chunk, this.#rootStep);
  }

  field(records: NestedVector, name: string): Vector {
    const onTrail = records.form === 'trail' ? this.#fieldOnTrail(records, name) : undefined;
    if (onTrail !== undefined) return onTrail;
    const { rows, nodes, count } = records;
    const found = this.#findFields(nodes, count, name);
    if (found.someInText) {
      return vectorOf(
        Array.from({ length: count }, (_, i) =>
          nodes[i]! < 0 ? null : this.nested(rows[i]!, nodes[i]!).field(name),
        ),
      );
    }
    const kinds = found.kinds & ~NULLS;
    if (kinds === 0) return constantVector(null, count);
    if ((kinds & ~NUMBERS) === 0) {
      const nulls = (found.kinds & NULLS) === 0 ? undefined : nullsOf(found.nodes, count);
      return numberVector(this.#store.numbers(rows, found.places, count), count, nulls);
    }
    if ((kinds & ~TEXTS) === 0) return this.#store.strings(rows, found.places, count);
    if ((kinds & ~BOOLEANS) === 0) return this.#booleans(found.nodes, count);
    if ((kinds & ~NESTED) === 0) {
      return { kind: 'nested', count, source: this, rows, nodes: found.nodes };
    }
    const values = new Array<SqlValue>(count);
    for (let i = 0; i < count; i++) {
      values[i] = this.#value(rows[i]!, found.nodes[i]!, found.places[i]!);
    }
    return valueVector(values);
  }

  unnest(lists: NestedVector): UnnestedElements {
    const { count } = lists;
    if (lists.form === 'trail') {
      const step = lists.step.onlyElement();
      const areAllOnly = (step.kinds(lists.chunk.distinct) & NULLS) === 0;
      if (areAllOnly) return { count, parents: undefined, elements: lists.follow(step) };
    }
    const { rows, nodes } = lists;
    const only = this.#onlyElements(nodes, count);
    if (only !== undefined) {
      const elements: Vector = { kind: 'nested', count, source: this, rows, nodes: only };
      return { count, parents: undefined, elements };
    }
    const { tokens } = this.#skeletons.arrays;
    for (let i = 0; i < count; i++) {
      if (nodes[i]! >= 0 && (tokens[nodes[i]!]! & KIND_MASK) === JSON_TEXT) {
        return this.#unnestValues(rows, nodes, count);
      }
    }
    return this.#unnestRecords(rows, nodes, count);
  }

  nested(row: number, node: number): Nested {
    const { tokens } = this.#skeletons.arrays;
    if ((tokens[node]! & KIND_MASK) === JSON_TEXT) {
      const { bytes, start, end } = this.#store.verbatim(row, this.#skeletons.place(node));
      return new JsonNested(bytes, start, end);
    }
    return new TokenNested(this, this.#skeletons, row, node);
  }

  /** The field `name` of one record, read as a value. */
  fieldValue(row: number, node: number, name: string): SqlValue {
    const named = this.#skeletons.fieldsNamed(name);
    const entry = this.#skeletons.resolve(named, node);
    const field = named.fields.target(entry);
    return field < 0 ? null : this.#value(row, field, named.fields.place(entry));
  }

  /** Writes the record or list at a node of a row. `isKept` as of `Nested.writeJson`. */
  writeJson(
    {
      row,
      node,
      isKept,
    }: { readonly row: number; readonly node: number; readonly isKept: boolean },
    out: JsonWriter,
  ): void {
    const { rowTexts } = this.#skeletons;
    if (isKept && rowTexts.write(row, node, out)) return;
    // It goes to whatever writer in one piece.
    const line = threadArrays.borrow(JsonBuffer, 0);
    this.#writeLine(row, node, line);
    const text = line.written();
    if (isKept) rowTexts.keep(row, node, text);
    out.rawBytes(text, 0, text.length);
    line.clear();
    threadArrays.giveBack(line);
  }

  #writeLine(row: number, node: number, line: JsonBuffer): void {
    const skeletons = this.#skeletons;
    const store = this.#store;
    if (skeletons.noteRow(node)) {
      writeNode({ skeletons, store }, { row, node, place: skeletons.placeOnce(node) }, line);
      return;
    }
    const { template, place } = skeletons.template(node, store);
    if (store.writeRow !== undefined) store.writeRow(template, row, place, line);
    else writeTemplate(template, store, row, place, line);
  }

  /** `field` of records on a trail; undefined for what the plain form has to do. */
  #fieldOnTrail(records: TrailVector, name: string): Vector | undefined {
    const step = records.step.field(name);
    if (step === undefined) return undefined;
    const { chunk, count } = records;
    const kinds = step.kinds(chunk.distinct);
    const valueKinds = kinds & ~NULLS;
    if (valueKinds === 0) return constantVector(null, count);
    if ((valueKinds & ~NESTED) === 0) return records.follow(step);
    const isOfOneForm = (valueKinds & ~TEXTS) === 0 || (valueKinds & ~NUMBERS) === 0;
    if (isOfOneForm && kinds === valueKinds) {
      const together = this.#readTogether(chunk, step);
      if (together !== undefined) return together;
    }
    const { rows, codes } = chunk;
    if ((valueKinds & ~TEXTS) === 0) {
      const places = step.places(codes, count);
      const strings = this.#store.strings(rows, places, count);
      threadArrays.giveBack(places);
      return strings;
    }
    if ((valueKinds & ~NUMBERS) === 0) {
      const places = step.places(codes, count);
      const nulls = (kinds & NULLS) === 0 ? undefined : nullsOf(places, count);
      const numbers = this.#store.numbers(rows, places, count);
      threadArrays.giveBack(places);
      return numberVector(numbers, count, nulls);
    }
    return undefined;
  }

  /** A field that all rows have, read without looking at each row's place; `undefined` where it is to be looked at. */
  #readTogether(chunk: ChunkRows, step: SkeletonStep): Vector | undefined {
    const { start, count, distinct } = chunk;
    const places = step.places(distinct, distinct.length);
    const range =
      start === undefined
        ? undefined
        : this.#store.range?.({ start, count }, places, distinct.length);
    const placeCount = distinct.length;
    const together = range ?? this.#store.list?.({ rows: chunk.rows, count, places, placeCount });
    threadArrays.giveBack(places);
    return together;
  }

  #findFields(nodes: Int32Array, count: number, name: string): FoundFields {
    const named = this.#skeletons.fieldsNamed(name);
    const { tokens } = this.#skeletons.arrays;
    const fields = carvedInt32(count);
    const places = carvedInt32(count);
    let kinds = 0;
    let someInText = false;
    let nodeBefore = -2;
    let field = -1;
    let place = -1;
    for (let i = 0; i < count; i++) {
      const node = nodes[i]!;
      if (node !== nodeBefore) {
        nodeBefore = node;
        field = -1;
        place = -1;
        if (node >= 0) {
          const entry = this.#skeletons.resolve(named, node);
          const target = named.fields.target(entry);
          if (target === FIELD_IN_TEXT) someInText = true;
          else if (target >= 0) {
            const kind = tokens[target]! & KIND_MASK;
            if (kind !== NULL_KIND && kind !== HUGE_NUMBER) {
              field = target;
              place = named.fields.place(entry);
            }
          }
        }
        kinds |= field < 0 ? NULLS : 1 << (tokens[field]! & KIND_MASK);
      }
      fields[i] = field;
      places[i] = place;
    }
    return { nodes: fields, places, kinds, someInText };
  }

  #booleans(nodes: Int32Array, count: number): Vector {
    const { tokens } = this.#skeletons.arrays;
    const values = carvedUint8(count);
    for (let i = 0; i < count; i++) {
      const node = nodes[i]!;
      if (node < 0) values[i] = UNKNOWN;
      else values[i] = (tokens[node]! & KIND_MASK) === TRUE_KIND ? TRUE : FALSE;
    }
    return booleanVector(values, count);
  }

  /** The value of a field that was found; -1 is NULL. */
  #value(row: number, node: number, place: number): SqlValue {
    if (node < 0) return null;
    const kind = this.#skeletons.arrays.tokens[node]! & KIND_MASK;
    switch (kind) {
      case NULL_KIND:
      case HUGE_NUMBER:
        return null;
      case FALSE_KIND:
        return false;
      case TRUE_KIND:
        return true;
      case INTEGER:
      case FLOAT:
        return this.#store.number(row, place);
      case TEXT:
        return this.#store.text(row, place);
      case BIG_INTEGER: {
        const { bytes, start, end } = this.#store.verbatim(row, place);
        return readInteger(decodeWtf8(bytes, start, end));
      }
      default:
        return this.nested(row, node);
    }
  }

  /** The one element of each entry, when each is a record or a list of one record. */
  #onlyElements(nodes: Int32Array, count: number): Int32Array | undefined {
    const skeletons = this.#skeletons;
    const only = carvedInt32(count);
    let nodeBefore = -1;
    let element = -1;
    for (let i = 0; i < count; i++) {
      const node = nodes[i]!;
      if (node < 0) return undefined;
      if (node !== nodeBefore) {
        nodeBefore = node;
        element = skeletons.onlyElement(node);
        if (element < 0) return undefined;
      }
      only[i] = element;
    }
    return only;
  }

  #unnestRecords(rows: Int32Array, nodes: Int32Array, count: number): UnnestedElements {
    const { tokens } = this.#skeletons.arrays;
    const elementRows: number[] = [];
    const elements: number[] = [];
    const parents: number[] = [];
    for (let i = 0; i < count; i++) {
      const node = nodes[i]!;
      if (node < 0 || (tokens[node]! & KIND_MASK) === EMPTY_LIST) continue;
      const isRecord = (tokens[node]! & KIND_MASK) === RECORD;
      const end = endOfNode(tokens, node);
      let place = this.#skeletons.place(node);
      for (let at = isRecord ? node : node + NODE_HEADER_SIZE; at < end; ) {
        this.#skeletons.remember(at, place);
        elementRows.push(rows[i]!);
        elements.push(at);
        parents.push(i);
        place += slotCount(tokens, at);
        at = endOfNode(tokens, at);
      }
    }
    return {
      count: elements.length,
      parents: Int32Array.from(parents),
      elements: {
        kind: 'nested',
        count: elements.length,
        source: this,
        rows: Int32Array.from(elementRows),
        nodes: Int32Array.from(elements),
      },
    };
  }

  /** Elements of lists some of which are kept as text: read one by one. */
  #unnestValues(rows: Int32Array, nodes: Int32Array, count: number): UnnestedElements {
    const values: SqlValue[] = [];
    const parents: number[] = [];
    for (let i = 0; i < count; i++) {
      if (nodes[i]! < 0) continue;
      for (const element of this.nested(rows[i]!, nodes[i]!).elements()) {
        values.push(element);
        parents.push(i);
      }
    }
    const elements = vectorOf(values);
    return { count: values.length, parents: Int32Array.from(parents), elements };
  }
}

function nullsOf(nodes: Int32Array, count: number): Uint8Array {
  const nulls = carvedUint8(count);
  for (let i = 0; i < count; i++) nulls[i] = nodes[i]! >>> 31;
  return nulls;
}

/** A record, or a list of records, or the empty list. */
class TokenNested implements Nested {
  readonly isList: boolean;
  readonly #source: TokenSource;
  readonly #skeletons: Skeletons;
  readonly #row: number;
  readonly #node: number;

  constructor(source: TokenSource, skeletons: Skeletons, row: number, node: number) {
    this.#source = source;
    this.#skeletons = skeletons;
    this.#row = row;
    this.#node = node;
    this.isList = (skeletons.arrays.tokens[node]! & KIND_MASK) !== RECORD;
  }

  field(name: string): SqlValue {
    return this.#source.fieldValue(this.#row, this.#node, name);
  }

  elements(): readonly SqlValue[] {
    if (!this.isList) return [this];
    const { tokens } = this.#skeletons.arrays;
    const elements: Nested[] = [];
    if ((tokens[this.#node]! & KIND_MASK) === EMPTY_LIST) return elements;
    const end = endOfNode(tokens, this.#node);
    let place = this.#skeletons.place(this.#node);
    for (let at = this.#node + NODE_HEADER_SIZE; at < end; at = endOfNode(tokens, at)) {
      this.#skeletons.remember(at, place);
      place += slotCount(tokens, at);
      elements.push(this.#source.nested(this.#row, at));
    }
    return elements;
  }

  writeJson(out: JsonWriter, isKept = false): void {
    this.#source.writeJson({ row: this.#row, node: this.#node, isKept }, out);
  }
}
