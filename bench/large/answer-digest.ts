import { hashOf } from '../measure.ts';
import type { AnswerRow, CellValue, Question } from '../peers/question.ts';

/** Of the statistics: engines that estimate quantiles differ in these. */
const QUANTILE_COLUMNS: ReadonlySet<number> = new Set([4, 5]);

/** Means that are sums in another order are equal in so many digits. */
const DIGITS = 9;

/** A hash that is the same for the same answer of any engine, however each writes it. Quantiles are left out. */
export function digestOf(question: Question, rows: readonly AnswerRow[]): string {
  const isCounted = (column: number): boolean =>
    question.kind !== 'invocation-stats' || !QUANTILE_COLUMNS.has(column);
  const cells = rows.map((row) => row.filter((_, column) => isCounted(column)).map(plainCell));
  return hashOf(JSON.stringify(cells));
}

/** The same for rows of any text; an empty text, which some engines have where others have NULL, is NULL. */
export function digestOfRows(rows: readonly AnswerRow[]): string {
  return hashOf(
    JSON.stringify(rows.map((row) => row.map((cell) => (cell === '' ? null : plainCell(cell))))),
  );
}

function plainCell(cell: CellValue): unknown {
  if (typeof cell === 'number' && !Number.isInteger(cell)) return cell.toPrecision(DIGITS);
  if (typeof cell !== 'string' || !/^[[{]/.test(cell)) return cell;
  return JSON.parse(cell, (_, value) => onlyRecordOf(value));
}

/** A list of one record, as weir has every record, is that record. */
function onlyRecordOf(value: unknown): unknown {
  if (!Array.isArray(value) || value.length !== 1) return value;
  const [only] = value;
  return only instanceof Object && !Array.isArray(only) ? only : value;
}
