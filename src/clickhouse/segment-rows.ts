import {
  type ByteRange,
  CHUNK_ROWS_MAX,
  collectGarbageBeside,
  encodeWtf8,
  isNested,
  JsonBuffer,
  readFooter,
  repairSegment,
  SealedSegmentReader,
  SliceSource,
  type Vector,
  valueAt,
} from '../../engine/columns.ts';
import type { SegmentEnvelope } from '../../ingest/segment-envelope.ts';
import type { SegmentFile } from '../../ingest/segment-file.ts';
import { columnNames } from '../../ingest/verification.ts';
import type { ArrivalRange } from './moved-table.ts';
import { dayText, type ShippedRow } from './shipped-row.ts';

/** A row of a segment, without what tells where it came in. Its bytes are good until the next row. */
export type SegmentRow = Omit<ShippedRow, 'gateway' | 'place' | 'receivedUs'> & {
  readonly arrival: number;
};

/** Consecutive rows [start, end) of one project key, of none, or of mixed projects. */
type Group = {
  readonly start: number;
  readonly end: number;
  readonly projectKey: ByteRange | undefined;
  readonly isMixed: boolean;
};

/** The rows of a segment file, which is in memory as a whole meanwhile. */
export class SegmentRows {
  readonly #source: string;
  readonly #reader: SealedSegmentReader;
  readonly #groups: readonly Group[];
  readonly #body = new JsonBuffer();
  readonly #id = new KeptText();
  readonly #message = new KeptText();
  readonly #namedProject = new KeptText();

  /** The arrivals of the rows, and perhaps others between them. */
  readonly range: ArrivalRange;
  /** Names of the columns that could not be read. */
  readonly lostColumns: readonly string[];

  private constructor(
    { source, partition, arrivalMin, arrivalMax }: SegmentEnvelope,
    buffer: SharedArrayBuffer,
    lostColumns: readonly string[],
  ) {
    this.lostColumns = lostColumns;
    this.#source = source;
    this.#reader = SealedSegmentReader.open(buffer);
    this.#groups = listGroups(buffer);
    const projects: { first: Uint8Array; last: Uint8Array } = {
      first: keyOf(this.#groups[0]),
      last: NO_KEY,
    };
    for (const group of this.#groups) {
      if (group.isMixed) projects.first = NO_KEY;
      else projects.last = keyOf(group);
    }
    this.range = { source, day: dayText(partition), arrivalMin, arrivalMax, projects };
  }

  /**
   * Reads a file. Damaged columns are NULL in all rows, as the service reads them. Resolves to `undefined` if the rows
   * cannot be told apart. Rejects with a DiskError.
   */
  static async load(file: SegmentFile): Promise<SegmentRows | undefined> {
    const { buffer, damagedColumns } = await file.load();
    if (damagedColumns.includes('structure')) return undefined;
    const whole = damagedColumns.length === 0 ? buffer : repairSegment(buffer, damagedColumns);
    const lostColumns = columnNames(buffer, damagedColumns);
    return new SegmentRows(file.envelope, whole, lostColumns);
  }

  /** Gives back the memory of segments that were read before. */
  static release(): Promise<void> {
    return collectGarbageBeside();
  }

  /** The rows by project key, then time, then arrival, some at a time. */
  *chunks(): Generator<Iterable<SegmentRow>> {
    for (const group of this.#groups) {
      for (let start = group.start; start < group.end; start += CHUNK_ROWS_MAX) {
        yield this.#rows(group, start, Math.min(CHUNK_ROWS_MAX, group.end - start));
      }
    }
  }

  *#rows({ projectKey, isMixed }: Group, start: number, count: number): Generator<SegmentRow> {
    const reader = this.#reader;
    const rows = Int32Array.from({ length: count }, (_, index) => start + index);
    const times = reader.timestamps(rows, count);
    const arrivals = reader.arrivals(rows, count);
    const ids = reader.ids(rows, count);
    const messages = reader.messages(rows, count);
    const projects = reader.projects(rows, count);
    const roots = reader.roots(rows, count);
    for (let index = 0; index < count; index++) {
      const root = valueAt(roots, index);
      this.#body.clear();
      if (isNested(root)) root.writeJson(this.#body);
      yield {
        source: this.#source,
        ...{ projectKey, isMixed },
        timestampUs: Number(valueAt(times, index)),
        arrival: Number(valueAt(arrivals, index)),
        id: this.#id.keep(findText(ids, index)),
        message: this.#message.keep(findText(messages, index)),
        namedProject: this.#namedProject.keep(findText(projects, index)),
        body: this.#body.range(),
      };
    }
  }
}

function listGroups(buffer: SharedArrayBuffer): readonly Group[] {
  const { hasNone, hasMixed, names, starts } = readFooter(buffer).groups;
  const source = new SliceSource(buffer);
  const bytes = source.bytes(names.bytes);
  const offsets = source.unsigned32(names.offsets);
  const rows = source.unsigned32(starts);
  const groupCount = rows.length - 1;
  return Array.from({ length: groupCount }, (_, group) => {
    const isMixed = hasMixed && group === groupCount - 1;
    const isNone = hasNone && group === 0;
    const name = group - (hasNone ? 1 : 0);
    return {
      ...{ start: rows[group]!, end: rows[group + 1]!, isMixed },
      projectKey:
        isMixed || isNone ? undefined : { bytes, start: offsets[name]!, end: offsets[name + 1]! },
    };
  });
}

const NO_KEY = new Uint8Array(0);

function keyOf(group: Group | undefined): Uint8Array {
  const { projectKey } = group ?? {};
  return projectKey === undefined
    ? NO_KEY
    : projectKey.bytes.subarray(projectKey.start, projectKey.end);
}

/** A text in memory of its own: that of a dictionary is good only until the next one is read. */
class KeptText {
  #bytes = new Uint8Array(256);

  keep(text: ByteRange | undefined): ByteRange | undefined {
    if (text === undefined) return undefined;
    const { bytes, start, end } = text;
    const size = end - start;
    if (size > this.#bytes.length) this.#bytes = new Uint8Array(2 * size);
    this.#bytes.set(bytes.subarray(start, end));
    return { bytes: this.#bytes, start: 0, end: size };
  }
}

/** The text of a row; `undefined` for NULL. */
function findText(vector: Vector, index: number): ByteRange | undefined {
  if (vector.kind === 'dictionary') {
    const code = vector.codes[index]!;
    if (code < 0) return undefined;
    const range = vector.dictionary.range?.(code);
    if (range !== undefined) return range;
  }
  const value = valueAt(vector, index);
  if (value === null) return undefined;
  const bytes = encodeWtf8(String(value));
  return { bytes, start: 0, end: bytes.length };
}
