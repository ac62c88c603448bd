import { count } from '../../engine/index.ts';
import type { Inspection, SourceInspection, TimeSpan } from '../../ingest/inspection.ts';
import type { LockHolder } from '../../ingest/lock-file.ts';
import type { SequenceInterval } from '../../ingest/sequence-intervals.ts';
import { byteText } from '../byte-text.ts';
import { echo } from '../echo.ts';
import { LINES_LISTED_MAX } from '../limits.ts';
import { damageText, tailText } from './damage-text.ts';
import { columnWidths } from './text-table.ts';

/** Formats the contents of a data folder for a terminal. */
export function inspectionText(found: {
  readonly dataDir: string;
  readonly lock: LockHolder | undefined;
  readonly inspection: Inspection;
  /** Whether to list each segment file. */
  readonly withFiles: boolean;
}): string {
  const { dataDir, lock, inspection, withFiles } = found;
  const lines = [
    `folder      ${dataDir}`,
    `lock        ${lockText(lock)}`,
    ...summaryLines(inspection),
    '',
    ...section('segment files', segmentTable(inspection)),
    ...section('log', logTable(inspection)),
    ...(withFiles ? section('each segment file', fileTable(inspection)) : []),
    ...section('damaged', listed(inspection.damages.map(damageText), inspection.damageCount)),
    ...section(
      'not read',
      listed(inspection.unchecked.map(({ path, reason }) => `${path}: ${reason}`)),
    ),
    ...section(
      'left over, and removed by the next start',
      listed(
        inspection.leftovers.map(
          ({ path, byteSize, kind }) => `${path}: ${byteText(byteSize)}, ${LEFTOVER_TEXT[kind]}`,
        ),
      ),
    ),
    ...section('not ours', listed(inspection.unknown.map(echo))),
  ];
  if (!inspection.isSettled)
    lines.push('The files were changing all the time: read the folder again.', '');
  return lines.join('\n');
}

const LEFTOVER_TEXT = {
  replaced: 'its rows are in another file',
  temporary: 'being written, or was when a process died',
} as const;

function lockText(lock: LockHolder | undefined): string {
  if (lock === undefined) return 'no process uses the folder';
  const { pid, host, since, isAlive } = lock;
  const who = `process ${pid} on ${echo(host)}, since ${echo(since)}`;
  return isAlive ? `in use by ${who}` : `left behind by ${who}, which has ended`;
}

function summaryLines(inspection: Inspection): readonly string[] {
  const { segments, log, span, quarantine, leftovers } = inspection;
  const leftoverSize = leftovers.reduce((sum, { byteSize }) => sum + byteSize, 0);
  const disk = segments.byteSize + log.byteSize + leftoverSize + quarantine.byteSize;
  const { fileCount } = quarantine;
  const lines = [
    `events      ${count(inspection.eventCount)}: ${count(segments.eventCount)} in segment files, ${count(log.uncoveredEventCount)} in the log only`,
    `time        ${span === undefined ? 'no event' : `${timeText(span.timestampUsMin)} to ${timeText(span.timestampUsMax)} UTC`}`,
    `on disk     ${byteText(disk)}: segment files ${byteText(segments.byteSize)}, log ${byteText(log.byteSize)}, quarantine ${byteText(quarantine.byteSize)} in ${count(fileCount)} ${fileCount === 1 ? 'file' : 'files'}`,
    `damage      ${damageSummary(inspection)}`,
  ];
  if (log.tailSize > 0) lines.push(`log end     ${tailText(log.tailSize)}`);
  return lines;
}

function damageSummary({ damageCount, unchecked, log }: Inspection): string {
  if (damageCount + unchecked.length === 0) {
    return 'none found yet; weir verify reads every byte';
  }
  const lost = log.recordsLost > 0 ? `; ${count(log.recordsLost)} records of the log lost` : '';
  return `${count(damageCount)} damaged, ${count(unchecked.length)} files not read${lost}`;
}

function segmentTable({ sources, segments }: Inspection): readonly string[] {
  const rows = sources
    .filter((source) => source.segments.fileCount > 0)
    .map((source) => [
      source.source,
      ...totalCells(source.segments),
      intervalsText(source.segments.covered),
    ]);
  if (rows.length === 0) return [];
  return table(
    [
      'source',
      ...['files', 'events', 'days', 'in memory', 'on disk', 'bytes/event'],
      ...['first', 'last', 'log records'],
    ],
    [...rows, ['total', ...totalCells(segments), '']],
    6,
  );
}

function totalCells(totals: Inspection['segments']): readonly string[] {
  const { fileCount, eventCount, dayCount, memorySize, byteSize, span } = totals;
  return [
    ...[count(fileCount), count(eventCount), count(dayCount)],
    ...[byteText(memorySize), byteText(byteSize), perEvent(byteSize, eventCount)],
    ...spanCells(span),
  ];
}

function logTable({ sources, log }: Inspection): readonly string[] {
  const { fileCount, byteSize, firstSequence, lastSequence } = log;
  if (fileCount === 0) return [];
  const records =
    firstSequence === undefined || lastSequence === undefined
      ? 'no record'
      : `records ${count(firstSequence)} to ${count(lastSequence)}`;
  const files = `${count(fileCount)} ${fileCount === 1 ? 'file' : 'files'} of ${byteText(byteSize)}, ${records}`;
  const rows = sources.flatMap(({ source, log: its }: SourceInspection) =>
    its === undefined
      ? []
      : [
          [
            source,
            ...[count(its.recordCount), count(its.eventCount), byteText(its.byteSize)],
            perEvent(its.byteSize, its.eventCount),
            ...[count(its.uncoveredRecordCount), count(its.uncoveredEventCount)],
            ...spanCells(its),
          ],
        ],
  );
  if (rows.length === 0) return [files];
  const recordsSize = sources.reduce((sum, { log: its }) => sum + (its?.byteSize ?? 0), 0);
  const total = [
    ...['total', count(log.recordCount), count(log.eventCount), byteText(recordsSize)],
    perEvent(recordsSize, log.eventCount),
    ...[count(log.uncoveredRecordCount), count(log.uncoveredEventCount), '', ''],
  ];
  const names = [
    ...['source', 'records', 'events', 'bytes', 'bytes/event'],
    ...['not in segment files: records', 'events', 'first', 'last'],
  ];
  return [files, ...table(names, [...rows, total], 6)];
}

function fileTable({ files }: Inspection): readonly string[] {
  if (files.length === 0) return [];
  return table(
    ['file', 'events', 'in memory', 'on disk', 'bytes/event', 'first', 'last', 'log records'],
    files.map(({ path, eventCount, memorySize, byteSize, span, covered }) => [
      path,
      ...[count(eventCount), byteText(memorySize), byteText(byteSize)],
      perEvent(byteSize, eventCount),
      ...spanCells(span),
      intervalsText(covered),
    ]),
    4,
  );
}

/** Formats a table. Columns 1 to `numberCount` are numbers, aligned to the right. */
function table(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  numberCount: number,
): readonly string[] {
  const lines = [names, ...rows];
  const widths = columnWidths(lines);
  return lines.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        const isNumber = column >= 1 && column <= numberCount;
        return isNumber ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`), ''];
}

/** The first LINES_LISTED_MAX lines of `lineCount`. */
function listed(lines: readonly string[], lineCount = lines.length): readonly string[] {
  const shown = lines.slice(0, LINES_LISTED_MAX);
  const more = lineCount - shown.length;
  return more > 0 ? [...shown, `… and ${count(more)} more`] : shown;
}

function perEvent(size: number, eventCount: number): string {
  return eventCount === 0 ? '' : count(Math.round(size / eventCount));
}

function spanCells(span: TimeSpan): readonly string[] {
  return span === undefined
    ? ['', '']
    : [timeText(span.timestampUsMin), timeText(span.timestampUsMax)];
}

/** `2026-01-15 11:58:00`, UTC. */
function timeText(timestampUs: number): string {
  return new Date(timestampUs / 1000).toISOString().slice(0, 19).replace('T', ' ');
}

function intervalsText(intervals: readonly SequenceInterval[]): string {
  const first = intervals[0];
  const last = intervals.at(-1);
  if (first === undefined || last === undefined) return '';
  const range = `${count(first.fromSequence)} to ${count(last.throughSequence)}`;
  return intervals.length === 1 ? range : `${range}, in ${count(intervals.length)} runs`;
}
