import type { Chunk } from '../column/chunk.ts';
import type { JsonBuffer } from '../column/json-buffer.ts';
import { elementTypeOf, isElement, type SqlType } from '../column/type.ts';
import { isInterval, isNested, type SqlValue } from '../column/value.ts';
import { type Vector, valueAt } from '../column/vector.ts';
import { ASCII_COPY_SIZE, type ViewedBytes, viewed } from '../column/wtf8.ts';
import { base64OfBytes } from '../function/text/text-units.ts';
import { formatInterval } from '../function/time/interval.ts';
import { datetimeIsoText, formatDate, formatTimeOfDay } from '../function/time/timestamp-text.ts';
import { ANSWER_BYTES_MAX } from '../limits.ts';
import type { Checkpoint, Sink } from '../operator/sink.ts';
import { QueryError } from '../query-error.ts';
import type { Column } from './expression.ts';
import { layoutOf, type PhysicalPlan } from './physical-plan.ts';

/**
 * Bytes of one answer up to which its records are kept: a page of 100 events has some 350 KB. What asks for
 * thousands of events does so once, and would push out all pages.
 */
const ANSWER_TEXTS_BYTES_MAX = 1024 * 1024;

/** Bytes between two checkpoints: well below a millisecond of writing. */
const CHECKPOINT_BYTES = 64 * 1024;

type OutputColumn = {
  /** What stands before each value, of ASCII; ASCII_COPY_SIZE bytes more, for the copy. */
  readonly prefix: ViewedBytes;
  /** Bytes of it. */
  readonly prefixSize: number;
  readonly index: number;
  readonly type: SqlType;
};

/** What bounds an answer. */
export type RowBounds = {
  /** Rows beyond this are left out: the plan gives one more where there are more. */
  readonly rowsMax?: number | undefined;
  readonly bytesMax?: number | undefined;
  readonly checkpoint?: Checkpoint | undefined;
};

/** The rows of an answer, as written. */
export type WrittenRows = {
  /** A JSON array; its bytes are good until the buffer is written to again. */
  readonly json: Uint8Array;
  readonly rowCount: number;
  /** Whether there were more. */
  readonly isTruncated: boolean;
};

/** Writes the rows of an answer as a JSON array of objects, keys in the order of the select list. */
export class RowWriter implements Sink {
  readonly #out: JsonBuffer;
  readonly #columns: readonly OutputColumn[];
  readonly #checkpoint: Checkpoint | undefined;
  readonly #rowsMax: number;
  readonly #bytesMax: number;
  #rowCount = 0;
  #isTruncated = false;
  /** Bytes at which the checkpoint is passed next. */
  #checkpointSize = CHECKPOINT_BYTES;

  constructor(
    output: readonly Column[],
    plan: PhysicalPlan,
    out: JsonBuffer,
    bounds: RowBounds = {},
  ) {
    this.#checkpoint = bounds.checkpoint;
    this.#rowsMax = bounds.rowsMax ?? Number.POSITIVE_INFINITY;
    this.#bytesMax = bounds.bytesMax ?? ANSWER_BYTES_MAX;
    this.#out = out;
    this.#columns = outputColumnsOf(output, plan);
    out.raw('[');
  }

  push(chunk: Chunk): boolean {
    const out = this.#out;
    const columns = this.#columns;
    const vectors = columns.map(({ index }) => chunk.column(index));
    const numbers = vectors.map((vector, position) =>
      plainNumbers(vector, columns[position]!.type),
    );
    const count = Math.min(chunk.count, this.#rowsMax - this.#rowCount);
    for (let row = 0; row < count; row++) {
      if (this.#rowCount > 0) out.raw(',');
      for (let position = 0; position < columns.length; position++) {
        const { prefix, prefixSize, type } = columns[position]!;
        const values = numbers[position]!;
        if (row < values.length && Number.isFinite(values[row])) {
          out.numberBehind(prefix, prefixSize, values[row]!);
          continue;
        }
        out.rawViewed(prefix, 0, prefixSize);
        writeEntry(vectors[position]!, row, type, out);
      }
      out.raw(columns.length === 0 ? '{}' : '}');
      this.#rowCount += 1;
      if (out.size >= this.#checkpointSize) {
        this.#checkpoint?.();
        this.#checkpointSize = out.size + CHECKPOINT_BYTES;
      }
      if (out.size > this.#bytesMax) {
        throw new QueryError(
          'answer_too_large',
          `an answer may have at most ${this.#bytesMax} bytes; its first ${this.#rowCount} rows have ${out.size}`,
        );
      }
    }
    if (count === chunk.count) return true;
    this.#isTruncated = true;
    return false;
  }

  /** Ends the array. */
  finish(): WrittenRows {
    this.#out.raw(']');
    const json = this.#out.written();
    return { json, rowCount: this.#rowCount, isTruncated: this.#isTruncated };
  }
}

/** Of the plans that are run again and again; each has one output. */
const outputs = new WeakMap<
  PhysicalPlan,
  { readonly output: readonly Column[]; readonly columns: readonly OutputColumn[] }
>();

function outputColumnsOf(output: readonly Column[], plan: PhysicalPlan): readonly OutputColumn[] {
  const known = outputs.get(plan);
  if (known?.output === output) return known.columns;
  const layout = layoutOf(plan);
  const columns = output.map(({ id, name, type }, position) => {
    const text = `${position === 0 ? '{' : ','}${asciiJson(name)}:`;
    const prefix = viewed(Buffer.from(text.padEnd(text.length + ASCII_COPY_SIZE)));
    return { prefix, prefixSize: text.length, index: layout.indexOf(id), type };
  });
  outputs.set(plan, { output, columns });
  return columns;
}

function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Whether texts may be kept: of the beginning of an answer. */
function mayKeep(out: JsonBuffer): boolean {
  return out.size < ANSWER_TEXTS_BYTES_MAX;
}

const NO_NUMBERS = new Float64Array(0);

/** The numbers of a column where each of its entries is one, and is written as such; else none. */
function plainNumbers(vector: Vector, { kind }: SqlType): Float64Array {
  if (vector.kind !== 'number' || vector.nulls !== undefined) return NO_NUMBERS;
  return kind === 'DATETIME' || kind === 'DATE' || kind === 'TIME' ? NO_NUMBERS : vector.values;
}

/** Strings go from the segment's bytes to the answer's; all else by way of its value. */
function writeEntry(vector: Vector, row: number, type: SqlType, out: JsonBuffer): void {
  if (vector.kind === 'dictionary') {
    const code = vector.codes[row]!;
    if (code >= 0 && vector.dictionary.writeJson !== undefined) {
      vector.dictionary.writeJson(code, out, mayKeep(out));
      return;
    }
  }
  writeValue(valueAt(vector, row), type, out);
}

/** One value as the table of types in docs/http-api.md gives it. */
function writeValue(value: SqlValue, type: SqlType, out: JsonBuffer): void {
  if (value === null) {
    // As in BigQuery, an answer does not tell a NULL array from an empty one.
    out.raw(type.kind === 'ARRAY' ? '[]' : 'null');
  } else if (isNested(value)) {
    const isWrapped = !value.isList && !isElement(type);
    if (isWrapped) out.raw('[');
    value.writeJson(out, mayKeep(out));
    if (isWrapped) out.raw(']');
  } else if (type.kind === 'JSON') {
    const json = Buffer.from(value as string);
    out.rawBytes(json, 0, json.length);
  } else if (typeof value === 'string') {
    out.string(type.kind === 'BYTES' ? base64OfBytes(value) : value);
  } else if (typeof value === 'boolean') {
    out.raw(value ? 'true' : 'false');
  } else if (isInterval(value)) {
    out.string(formatInterval(value));
  } else if (typeof value === 'object') {
    writeComposite(value, type, out);
  } else {
    writeAmount(value, type, out);
  }
}

/** What a number stands for, its type tells. */
function writeAmount(value: number | bigint, type: SqlType, out: JsonBuffer): void {
  switch (type.kind) {
    case 'DATETIME':
      out.string(datetimeIsoText(value));
      break;
    case 'DATE':
      out.string(formatDate(Number(value)));
      break;
    case 'TIME':
      out.string(formatTimeOfDay(Number(value)));
      break;
    default:
      writeNumber(value, type, out);
  }
}

/** Up to here, 2^53, every integer is a double of its own. */
const EXACT_MAX = 2n ** 53n;

function writeNumber(value: number | bigint, type: SqlType, out: JsonBuffer): void {
  if (typeof value === 'bigint') {
    // What an event sent comes back as a number; what SQL computed is quoted for JavaScript's sake.
    const isNumber = type.kind === 'DYNAMIC' || (value >= -EXACT_MAX && value <= EXACT_MAX);
    out.raw(isNumber ? `${value}` : `"${value}"`);
  } else {
    writeDouble(value, out);
  }
}

function writeDouble(value: number, out: JsonBuffer): void {
  if (Number.isFinite(value)) out.number(value);
  else out.raw(Number.isNaN(value) ? '"NaN"' : value > 0 ? '"Infinity"' : '"-Infinity"');
}

function writeComposite(values: readonly SqlValue[], type: SqlType, out: JsonBuffer): void {
  if (type.kind === 'STRUCT') {
    writeStruct(values, type, out);
    return;
  }
  const element = elementTypeOf(type);
  out.raw('[');
  for (const [index, value] of values.entries()) {
    if (index > 0) out.raw(',');
    writeElement(value, element, out);
  }
  out.raw(']');
}

function writeElement(value: SqlValue, type: SqlType, out: JsonBuffer): void {
  if (value === null) {
    throw new QueryError(
      'query_failed',
      'an array in an answer cannot hold NULL, as in BigQuery: leave NULLs out, with IGNORE NULLS ' +
        'or a condition, or write another value in their place',
    );
  }
  writeValue(value, type, out);
}

/** Fields without a name are called by their position, as BigQuery's JSON does. */
function writeStruct(
  values: readonly SqlValue[],
  type: Extract<SqlType, { kind: 'STRUCT' }>,
  out: JsonBuffer,
): void {
  for (const [index, field] of type.fields.entries()) {
    out.raw(`${index === 0 ? '{' : ','}${asciiJson(field.name ?? `_field_${index + 1}`)}:`);
    writeValue(values[index]!, field.type, out);
  }
  out.raw(type.fields.length === 0 ? '{}' : '}');
}
