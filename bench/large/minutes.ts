import { WORK_KINDS } from '../../engine/pool/work-shares.ts';
import { barText, figuresOf } from '../measure.ts';

/** What happened within one minute. */
export type Minute = {
  readonly answeredCount: number;
  readonly failedCount: number;
  /** Of the saved queries; NaN where none was answered. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly residentBytes: number;
  readonly refusedPostCount: number;
  readonly eventCount: number;
  readonly fileBytes: number;
  readonly renewalCount: number;
  /** Of all threads of the process. */
  readonly processorSeconds: number;
  /** Of worker threads, by kind of work in the order of `WORK_KINDS`. */
  readonly runSeconds: readonly number[];
  /** That such work has waited for a thread or was parked. */
  readonly waitSeconds: readonly number[];
  /** Of sealed segments: how many there are, and how many runs have scanned. */
  readonly segmentCount: number;
  readonly scannedCount: number;
  /** Bytes of blocks that left memory, and of those that found no room in it. */
  readonly evictedBytes: number;
  readonly passingBytes: number;
  /** Whether sealed segments are more than what memory may have of them. */
  readonly isLarger: boolean;
};

const P99_RATIO_MAX = 3;

/** A minute answers at least so much of what the first has. */
const CALLS_RATIO_MIN = 0.5;

/** Resident memory is flat when the last minute has at most so much of what the first has. */
const RESIDENT_RATIO_MAX = 1.1;

const CELLS: readonly { readonly name: string; readonly textOf: (minute: Minute) => string }[] = [
  { name: 'calls answered', textOf: (minute) => String(minute.answeredCount) },
  { name: 'not 200', textOf: (minute) => String(minute.failedCount) },
  {
    name: 'saved queries p50 / p99 / max, ms',
    textOf: ({ p50Ms, p99Ms, maxMs }) =>
      [p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(ms < 100 ? 1 : 0)).join(' / '),
  },
  { name: 'resident, MiB', textOf: (minute) => (minute.residentBytes / 2 ** 20).toFixed(0) },
  { name: 'posts refused', textOf: (minute) => String(minute.refusedPostCount) },
  { name: 'events', textOf: (minute) => String(minute.eventCount) },
  { name: 'segment files, MB', textOf: (minute) => (minute.fileBytes / 1e6).toFixed(0) },
  { name: 'renewals', textOf: (minute) => String(minute.renewalCount) },
  { name: 'processor, s', textOf: (minute) => minute.processorSeconds.toFixed(0) },
  {
    name: `threads run ${WORK_KINDS.join(' / ')}, s`,
    textOf: (minute) => minute.runSeconds.map((seconds) => seconds.toFixed(0)).join(' / '),
  },
  {
    name: 'waited for threads, s',
    textOf: (minute) => minute.waitSeconds.map((seconds) => seconds.toFixed(0)).join(' / '),
  },
  {
    name: 'segments; scanned',
    textOf: ({ segmentCount, scannedCount }) => `${segmentCount}; ${scannedCount}`,
  },
  {
    name: 'blocks evicted / without room, MB',
    textOf: ({ evictedBytes, passingBytes }) =>
      [evictedBytes, passingBytes].map((bytes) => (bytes / 1e6).toFixed(0)).join(' / '),
  },
  { name: 'larger than memory', textOf: (minute) => (minute.isLarger ? 'yes' : 'no') },
];

/** The lines of a table in Markdown, one by one as minutes end. */
export const MINUTE_HEAD = [
  lineOf(['minute', ...CELLS.map(({ name }) => name)]),
  lineOf(['---', ...CELLS.map(() => '---')]),
].join('\n');

export function minuteLine(minute: Minute, number: number): string {
  return lineOf([String(number), ...CELLS.map(({ textOf }) => textOf(minute))]);
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** Percentiles of some calls. */
export function timesOf(ms: readonly number[]): Pick<Minute, 'p50Ms' | 'p99Ms' | 'maxMs'> {
  if (ms.length === 0) return { p50Ms: Number.NaN, p99Ms: Number.NaN, maxMs: Number.NaN };
  const { p50, p99 } = figuresOf(ms);
  return { p50Ms: p50, p99Ms: p99, maxMs: Math.max(...ms) };
}

/** What was reached. Minutes are held against the first one in which the data is larger than memory. */
export function minuteBars(
  minutes: readonly Minute[],
  residentBytesMax: number,
): readonly string[] {
  const firstIndex = minutes.findIndex(({ isLarger }) => isLarger);
  const compared = minutes.slice(Math.max(0, firstIndex));
  const [first] = compared;
  if (first === undefined) return [];
  const since = firstIndex < 0 ? 'the first, as memory held all' : `minute ${firstIndex + 1}`;
  const p99Ratio = Math.max(...compared.map(({ p99Ms }) => p99Ms)) / first.p99Ms;
  const callsRatio =
    Math.min(...compared.map(({ answeredCount }) => answeredCount)) / first.answeredCount;
  const residentRatio = compared.at(-1)!.residentBytes / first.residentBytes;
  const residentBytes = Math.max(...minutes.map((minute) => minute.residentBytes));
  const refusedCount = minutes.reduce((sum, minute) => sum + minute.refusedPostCount, 0);
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
  return [
    `minutes are held against ${since}`,
    `p99 of saved queries: at most ${p99Ratio.toFixed(2)} times as long ${barText(`<= ${P99_RATIO_MAX}`, p99Ratio <= P99_RATIO_MAX)}`,
    `calls answered: at least ${callsRatio.toFixed(2)} times as many ${barText(`>= ${CALLS_RATIO_MIN}`, callsRatio >= CALLS_RATIO_MIN)}`,
    `posts refused: ${refusedCount} ${barText('0', refusedCount === 0)}`,
    `resident memory: ${residentRatio.toFixed(2)} times as much at the end ${barText(`<= ${RESIDENT_RATIO_MAX}`, residentRatio <= RESIDENT_RATIO_MAX)}`,
    `resident memory: ${megabytes(residentBytes)} at most ${barText(`<= ${megabytes(residentBytesMax)}`, residentBytes <= residentBytesMax)}`,
  ];
}
