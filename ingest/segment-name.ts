/** Milliseconds of a UTC day. */
const DAY_MS = 86_400_000;

/** Digits of an id in a name, so that names of one day sort by age. Longer ids are written in full. */
const ID_DIGITS = 10;

const ENDING = '.segment';

/** The suffix of a file that is being written, or was when a process died. */
export const TEMPORARY_ENDING = '.tmp';

/** The contents of a segment file's name. */
export type SegmentName = {
  /** UTC day: days since the epoch. */
  readonly partition: number;
  /** Unique among all segment files of the data folder, ascending in time. */
  readonly id: number;
};

/** `2026-01-15.0000000042.segment` */
export function formatSegmentName({ partition, id }: SegmentName): string {
  const day = new Date(partition * DAY_MS).toISOString().slice(0, -'T00:00:00.000Z'.length);
  return `${day}.${String(id).padStart(ID_DIGITS, '0')}${ENDING}`;
}

/** `undefined` if the name does not have the form of `formatSegmentName`. */
export function parseSegmentName(name: string): SegmentName | undefined {
  const match = /^([+-]?\d{4,6}-\d\d-\d\d)\.(\d+)\.segment$/.exec(name);
  if (match === null) return undefined;
  const parsed = { partition: Date.parse(`${match[1]}T00:00:00Z`) / DAY_MS, id: Number(match[2]) };
  const isWhole = Number.isSafeInteger(parsed.partition) && Number.isSafeInteger(parsed.id);
  return isWhole && formatSegmentName(parsed) === name ? parsed : undefined;
}
