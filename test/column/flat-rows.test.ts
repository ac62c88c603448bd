import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { type JsonTemplate, writeNode, writeTemplate } from '../../engine/column/json-template.ts';
import { NumberValues } from '../../engine/column/number-values.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readFooter, type SealedFooter } from '../../engine/column/sealed-layout.ts';
import { openSlotPlaces, SealedSlotStore } from '../../engine/column/sealed-slot-store.ts';
import { Skeletons, type SlotStore } from '../../engine/column/skeleton.ts';
import { type Slice, SliceSource } from '../../engine/column/slice.ts';
import { WORD_FORMS } from '../../engine/column/string-footer.ts';
import { runsOf } from '../support/budget.ts';
import { anyEvents } from './any-event.ts';
import { batchOf, type EventValue, type TestEvent } from './batch-of.ts';

/** The parts of a sealed segment that rows are written with. */
class SealedRows {
  readonly footer: SealedFooter;
  readonly store: SealedSlotStore;
  /** The slices that were opened so far. */
  readonly needed: Slice[] = [];
  readonly #skeletons: Skeletons;
  readonly #plainSkeletons: Skeletons;
  readonly #rowSkeletons: NumberValues;

  constructor(events: readonly TestEvent[]) {
    const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
    segment.append(batchOf(events), 0, events.length);
    segment.publish();
    const [buffer] = sealSegment(segment.handle(), { partitionUs: 86_400_000_000 });
    const source = new SliceSource(buffer!, (slice) => {
      this.needed.push(slice);
      return buffer!;
    });
    this.footer = readFooter(buffer!);
    const { keys, skeletons } = this.footer;
    const starts = source.unsigned32(skeletons.starts);
    const arrays = {
      tokens: source.integers(skeletons.tokens),
      starts,
      count: starts.length - 1,
      placeStarts: source.unsigned32(skeletons.slotStarts),
      keys: { bytes: source.bytes(keys.bytes), offsets: source.unsigned32(keys.offsets) },
    };
    this.#skeletons = new Skeletons(arrays);
    this.#plainSkeletons = new Skeletons(arrays);
    this.#rowSkeletons = new NumberValues(source, this.footer.rowSkeletons);
    this.store = new SealedSlotStore(source, this.footer, openSlotPlaces(source, skeletons));
  }

  template(row: number): JsonTemplate {
    return this.#skeletons.template(this.#root(row), this.store).template;
  }

  written(row: number): string {
    return textOf((out) => this.store.writeRow(this.template(row), row, this.#place(row), out));
  }

  /** Slot after slot, constants too. */
  writtenPlainly(row: number): string {
    const plain = withoutShortCuts(this.store);
    const { template } = this.#plainSkeletons.template(this.#root(row), plain);
    return textOf((out) => writeTemplate(template, plain, row, this.#place(row), out));
  }

  writtenWithoutTemplate(row: number): string {
    const rows = { skeletons: this.#plainSkeletons, store: this.store };
    const node = { row, node: this.#root(row), place: this.#place(row) };
    return textOf((out) => writeNode(rows, node, out));
  }

  #root(row: number): number {
    return this.#skeletons.arrays.starts[this.#rowSkeletons.value(row)]!;
  }

  #place(row: number): number {
    return this.#skeletons.place(this.#root(row));
  }
}

function withoutShortCuts(store: SlotStore): SlotStore {
  return {
    numbers: (rows, places, count) => store.numbers(rows, places, count),
    strings: (rows, places, count) => store.strings(rows, places, count),
    number: (row, place) => store.number(row, place),
    text: (row, place) => store.text(row, place),
    verbatim: (row, place) => store.verbatim(row, place),
    writeText: (row, place, out) => store.writeText(row, place, out),
  };
}

function textOf(write: (out: JsonBuffer) => void): string {
  const out = new JsonBuffer();
  write(out);
  return new TextDecoder('utf-8', { fatal: true }).decode(out.take());
}

/** Events whose metadata holds `value(n)` under `v`. */
function eventsOf(count: number, value: (n: number) => EventValue): TestEvent[] {
  return Array.from({ length: count }, (_, n) => ({ timestampUs: n, metadata: { v: value(n) } }));
}

/** 32 letters, not two times the same, that have no digits among them. */
function lettersOf(n: number): string {
  return digitsOf(n).replace(/./g, (digit) => 'ghijklmnopqrstuv'[Number.parseInt(digit, 16)]!);
}

/** 32 digits, not two alike. */
function digitsOf(n: number): string {
  const product = BigInt(n + 1) * 0x9e3779b97f4a7c15f39cc0605cedc835n;
  return BigInt.asUintN(128, product).toString(16).padStart(32, '0');
}

test('a row of any shape is written as it is slot after slot', () => {
  fc.assert(
    fc.property(anyEvents, (events) => {
      const rows = new SealedRows(events);
      for (let row = 0; row < events.length; row++) {
        assert.equal(rows.written(row), rows.writtenPlainly(row));
        assert.equal(rows.writtenWithoutTemplate(row), rows.writtenPlainly(row));
      }
    }),
    { numRuns: runsOf(100) },
  );
});

test('strings come out of each packing as they went in', () => {
  const packings: [string, (n: number) => string][] = [
    ['plain', (n) => `path/${n * 7}`],
    ['plain', (n) => ['a"b', 'c\\d', 'ä', '\ud800', 'tab\t', ''][n % 6]!],
    ['hex', (n) => digitsOf(n)],
    ['hex', (n) => digitsOf(n).slice(0, 9)],
    ['hex', (n) => digitsOf(n).repeat(5)],
    ['uuid', (n) => digitsOf(n).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')],
    ['form decimal', (n) => String(n * 37)],
    ['form decimal', (n) => String(n * 9_876_543_210)],
    ['form ipv4', (n) => `${(n * 7) % 256}.0.${n % 256}.255`],
    ['form http-date', (n) => new Date(n * 7_654_321_000).toUTCString()],
  ];
  for (const [name, value] of packings) {
    const rows = new SealedRows(eventsOf(400, value));
    const { packing } = rows.footer.leaves[0]!.strings!;
    assert.equal(packing.kind === 'form' ? `form ${packing.form}` : packing.kind, name);
    for (let row = 0; row < 400; row++) {
      assert.equal(rows.written(row), JSON.stringify({ metadata: [{ v: value(row) }] }));
    }
  }
});

test('numbers come out of each encoding as they went in', () => {
  const encodings: [string, (n: number) => number][] = [
    ['unsigned', (n) => n],
    ['unsigned', (n) => n * 1_000_000 - 7_000_000],
    ['table', (n) => [200, 404, 546, -70_000][n % 4]!],
    ['float32', (n) => n / 2],
    ['float64', (n) => n / 3],
  ];
  for (const [name, value] of encodings) {
    const rows = new SealedRows(eventsOf(400, value));
    assert.equal(rows.footer.leaves[0]!.numbers?.encoding, name);
    for (let row = 0; row < 400; row++) {
      const text = JSON.stringify({ metadata: [{ v: value(row) }] });
      assert.equal(rows.written(row), text);
      assert.equal(rows.writtenPlainly(row), text);
    }
  }
});

test('the ends of other strings, lists of records and leaves of few rows and of fewer come out too', () => {
  const events = Array.from({ length: 600 }, (_, n): TestEvent => {
    const query = `?user=${digitsOf(n)}`;
    const rare: Record<string, EventValue> = n % 20 === 0 ? { rare: n / 3 } : {};
    if (n % 200 === 0) rare['rarest'] = `row ${n}`;
    const list = Array.from({ length: (n % 3) + 1 }, (_, index) => ({
      index: n * index,
      odd: 'x',
    }));
    const url = `https://example.com/${n}${query}`;
    const end = lettersOf(n);
    return {
      timestampUs: n,
      metadata: {
        url,
        query,
        whole: `${lettersOf(n + 1)}${end}`,
        end,
        list,
        half: n % 2 === 0 ? n : null,
        ...rare,
      },
    };
  });
  const rows = new SealedRows(events);
  const kinds = rows.footer.leaves.map((leaf) => leaf.positions.kind);
  const packings = rows.footer.leaves.map((leaf) => leaf.strings?.packing.kind);
  for (const kind of ['every-row', 'bitmap', 'sparse', 'offsets'] as const) {
    assert.ok(kinds.includes(kind), `${kind} among ${kinds.join()}`);
  }
  for (const kind of ['plain', 'suffix', 'split', 'excerpt'] as const) {
    assert.ok(packings.includes(kind), `${kind} among ${packings.join()}`);
  }
  assert.equal(rows.footer.residual.strings.count, 3);
  for (let row = 0; row < events.length; row++) {
    assert.equal(rows.written(row), JSON.stringify({ metadata: [events[row]!.metadata] }));
  }
});

test('what all rows have alike is text of the template, unless it is long', () => {
  for (const [size, slotCount] of [
    [64, 1],
    [65, 2],
  ] as const) {
    const constant = `"${'x'.repeat(size - 1)}`;
    const events = Array.from({ length: 100 }, (_, n) => {
      return { timestampUs: n, metadata: { constant, number: -1.5, n } };
    });
    const rows = new SealedRows(events);
    assert.equal(rows.template(0).kinds.length, slotCount);
    assert.deepEqual(JSON.parse(rows.written(7)), { metadata: [{ constant, number: -1.5, n: 7 }] });
  }
});

test('segments with rows of one shape share its template, if what is constant in them is the same', () => {
  const templateOf = (constant: string): JsonTemplate => {
    const events = Array.from({ length: 100 }, (_, n) => ({
      timestampUs: n,
      metadata: { constant, n },
    }));
    return new SealedRows(events).template(0);
  };
  assert.equal(templateOf('one'), templateOf('one'));
  assert.notEqual(templateOf('one'), templateOf('two'));
});

test('a column is opened when a row that has a value in it is first written', () => {
  const events = Array.from({ length: 200 }, (_, n): TestEvent => {
    return { timestampUs: n, metadata: n < 150 ? { early: `at ${n}` } : { late: `at ${n}` } };
  });
  const rows = new SealedRows(events);
  const opened = (): boolean[] => {
    return rows.footer.leaves.map(({ strings }) => {
      assert.ok(strings?.packing.kind === 'plain');
      const { bytes } = strings.packing;
      return rows.needed.some(([offset]) => offset === bytes[0]);
    });
  };
  // The columns with most values come first.
  assert.deepEqual(opened(), [false, false]);
  rows.written(149);
  assert.deepEqual(opened(), [true, false]);
  rows.written(150);
  assert.deepEqual(opened(), [true, true]);
});

test('a number in another dress is written as it is read', () => {
  const values = {
    decimal: fc.integer({ min: 0, max: 999_999_999_999_999 }),
    ipv4: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    // From 1 January 0000 to the end of the year 9999.
    'http-date': fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }),
  };
  for (const [name, form] of Object.entries(WORD_FORMS)) {
    fc.assert(
      fc.property(values[name as keyof typeof WORD_FORMS], (value) => {
        assert.equal(
          textOf((out) => form.write(value, out)),
          form.format(value),
        );
      }),
    );
  }
});
