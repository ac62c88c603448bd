import type { Asked } from './asked.ts';
import type { AnswerRow, CellValue } from './question.ts';
import type { MeasuredAnswer, MeasuredResult } from './result.ts';

/** Sums in another order differ by so much. */
const FLOAT_TOLERANCE = 1e-9;

/**
 * What a sketch of quantiles may differ by, or one that takes the value of the rank below, of a group with so
 * many values at least: with fewer, p99 has less than fifty above it, which lie far apart.
 */
const SKETCH_TOLERANCE = 0.1;
const SKETCH_VALUES_MIN = 5_000;

/** The columns of a question that quantiles are in, and the one with how many values they are of. */
type QuantileColumns = { readonly quantiles: ReadonlySet<number>; readonly count: number };

/** Sentences that say where two engines differ, at most one for each question, counts first. */
export function differencesOf(
  asked: readonly Asked[],
  reference: MeasuredResult,
  other: MeasuredResult,
): readonly string[] {
  const who = `${other.name} and ${reference.name}`;
  const differences: string[] = [];
  for (const [kind, count] of Object.entries(reference.counts)) {
    const got = other.counts[kind as keyof typeof other.counts];
    if (got !== count) differences.push(`${who}: ${got} and ${count} events of kind ${kind}`);
  }
  const isSketch = [reference, other].some(({ quantiles }) => quantiles === 'approximate');
  for (const one of asked) {
    const wanted = rowsOf(reference, one.name);
    const got = rowsOf(other, one.name);
    if (wanted === null || got === null) continue;
    // Nobody keeps millions of different numbers: not even an engine that counts values else.
    const mayDiffer = isSketch || one.question.kind === 'float-quantiles';
    const difference = rowsDifference(got, wanted, mayDiffer ? quantileColumnsOf(one) : undefined);
    if (difference !== undefined) differences.push(`${who}: ${one.name}: ${difference}`);
  }
  return differences;
}

function rowsOf(result: MeasuredResult, name: string): MeasuredAnswer['rows'] {
  return result.answers.find((answer) => answer.name === name)?.rows ?? null;
}

/** Which columns a sketch may be a little wrong in. */
function quantileColumnsOf({ question, quantileColumns }: Asked): QuantileColumns | undefined {
  if (question.kind === 'invocation-stats') return { quantiles: new Set([4, 5]), count: 6 };
  if (question.kind === 'float-quantiles') return { quantiles: new Set([1, 2]), count: 0 };
  return quantileColumns;
}

/** What the first row is that differs, if any does. */
export function rowsDifference(
  got: readonly AnswerRow[],
  wanted: readonly AnswerRow[],
  sketched: QuantileColumns | undefined,
): string | undefined {
  if (got.length !== wanted.length) return `${got.length} and ${wanted.length} rows`;
  for (const [index, row] of wanted.entries()) {
    const other = got[index]!;
    const isSame = (cell: CellValue, column: number): boolean => {
      if (sketched?.quantiles.has(column)) {
        return isNear(cell, other[column]!, Number(row[sketched.count]));
      }
      return isEqual(cell, other[column]!);
    };
    if (other.length === row.length && row.every(isSame)) continue;
    return `row ${index}: ${shortText(other)} and ${shortText(row)}`;
  }
  return undefined;
}

function isNear(left: CellValue, right: CellValue, valueCount: number): boolean {
  if (typeof left !== 'number' || typeof right !== 'number') return left === right;
  if (valueCount < SKETCH_VALUES_MIN) return true;
  return Math.abs(left - right) <= Math.max(1, SKETCH_TOLERANCE * Math.abs(left));
}

function isEqual(left: CellValue, right: CellValue): boolean {
  if (left === right) return true;
  if (typeof left === 'number' && typeof right === 'number') {
    return Math.abs(left - right) <= FLOAT_TOLERANCE * Math.max(Math.abs(left), Math.abs(right));
  }
  if (typeof left !== 'string' || typeof right !== 'string') return false;
  const [leftJson, rightJson] = [jsonOf(left), jsonOf(right)];
  return leftJson !== undefined && leftJson === rightJson;
}

/** A text of JSON without spaces; a list of one record, as weir has every record, is that record. */
function jsonOf(text: string): string | undefined {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.stringify(JSON.parse(text, (_, value) => onlyRecordOf(value)));
  } catch {
    return undefined;
  }
}

function onlyRecordOf(value: unknown): unknown {
  const isOne = Array.isArray(value) && value.length === 1 && value[0] instanceof Object;
  return isOne && !Array.isArray(value[0]) ? value[0] : value;
}

function shortText(row: AnswerRow): string {
  const text = JSON.stringify(row);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
