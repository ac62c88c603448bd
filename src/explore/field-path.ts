import { type Field, hint } from '../../engine/columns.ts';
import { echo } from '../echo.ts';

/** Keys from the event down, through lists as through records: `['metadata', 'response', 'status_code']`. */
export type FieldPath = readonly string[];

/** A field that events have. */
export type KnownField = {
  readonly path: FieldPath;
  /** Whether some events have a list of values there, not of records. */
  readonly isInLists: boolean;
  /** Whether some events have a value there that is in no list. */
  readonly isAlone: boolean;
};

/** What a search must know of a field of the engine, for which any other list than of records is a value. */
export function toKnownField({ path, kinds }: Pick<Field, 'path' | 'kinds'>): KnownField {
  return {
    path,
    isInLists: kinds.includes('ARRAY'),
    isAlone: kinds.some((kind) => kind !== 'ARRAY'),
  };
}

/** Columns that every source declares. */
const DECLARED_COLUMNS: readonly string[] = ['id', 'timestamp', 'event_message', 'project'];

/** Keys that may stand in a path without backticks. */
const PLAIN_KEY = /^[\p{L}\p{N}_@$][\p{L}\p{N}_@$-]*$/u;

/** The key before the end of a path that stands for all paths. */
const ANY_PATH = '*';

/** The most candidates that a message names. */
const CANDIDATES_MAX = 8;

/** Whether a path names a column that every source declares. */
export function isDeclared(path: FieldPath): boolean {
  return path.length === 1 && DECLARED_COLUMNS.includes(path[0]!);
}

/** The path as it is typed: keys between dots, odd ones in backticks. */
export function formatPath(path: FieldPath): string {
  return path
    .map((key) => (PLAIN_KEY.test(key) ? key : `\`${key.replace(/[\\`]/g, '\\$&')}\``))
    .join('.');
}

/**
 * The field that a typed path means: the one with exactly this path, or the only one whose path ends so. A path that
 * begins with `metadata` is taken as it is if no event has it: a search stays valid for a window without such events.
 * All that end so are meant behind `*`, and none may be there. Otherwise a sentence that says why there is none, with
 * candidates.
 */
export function findFields(
  typed: FieldPath,
  known: readonly KnownField[],
): readonly KnownField[] | string {
  if (typed[0] === ANY_PATH) return known.filter(({ path }) => endsWith(path, typed.slice(1)));
  const field = findField(typed, known);
  return typeof field === 'string' ? field : [field];
}

/** Finds the one field that is meant (`findFields`). */
export function findField(typed: FieldPath, known: readonly KnownField[]): KnownField | string {
  if (isDeclared(typed)) return { path: typed, isInLists: false, isAlone: true };
  const exact = known.find(({ path }) => isEqual(path, typed));
  if (exact !== undefined) return exact;
  const found = known.filter(({ path }) => endsWith(path, typed));
  if (found.length === 1) return found[0]!;
  const name = echo(formatPath(typed));
  if (found.length > 1) {
    return `${name} may be ${listPaths(found)}; write more of the path`;
  }
  if (typed[0] === 'metadata') return { path: typed, isInLists: true, isAlone: true };
  return `no event of the window has a field ${name}${makeHint(typed, known)}`;
}

function makeHint(typed: FieldPath, known: readonly KnownField[]): string {
  const last = typed.at(-1)!;
  const nearPath = hint(
    formatPath(typed),
    known.map(({ path }) => formatPath(path)),
  );
  if (nearPath !== '') return nearPath;
  const sameKey = known.filter(({ path }) => path.at(-1) === last);
  if (sameKey.length > 0) return `; did you mean ${listPaths(sameKey)}?`;
  return hint(
    last,
    known.map(({ path }) => path.at(-1)!),
  );
}

function listPaths(fields: readonly KnownField[]): string {
  const names = fields.slice(0, CANDIDATES_MAX).map(({ path }) => formatPath(path));
  const isCut = fields.length > CANDIDATES_MAX;
  if (isCut) return `${names.join(', ')} or ${fields.length - CANDIDATES_MAX} others`;
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

function isEqual(left: FieldPath, right: FieldPath): boolean {
  return left.length === right.length && endsWith(left, right);
}

function endsWith(path: FieldPath, end: FieldPath): boolean {
  const start = path.length - end.length;
  return start >= 0 && end.every((key, index) => path[start + index] === key);
}
