import { must } from '../../../engine/columns.ts';
import {
  type Column,
  type ColumnId,
  childrenOf,
  type Expression,
  expressionsOf,
  inputsOf,
  type LogicalPlan,
  type Project,
  type Unnest,
} from '../../../engine/index.ts';
import type { FieldPath, FieldRead, FieldStep } from './field-path.ts';

/** A column of a plan whose values lie on a path: below another such column, or the root record of a source. */
export type Place =
  | { readonly kind: 'root'; readonly source: string }
  /** The elements of the value below `of`. */
  | {
      readonly kind: 'element';
      readonly of: ColumnId;
      readonly steps: readonly FieldStep[];
      /** The unnest has a condition of its own. */
      readonly isConditional: boolean;
    }
  /** The value below `of`, under a name. */
  | { readonly kind: 'name'; readonly of: ColumnId; readonly steps: readonly FieldStep[] };

/** What a plan reads below a place. */
export type FieldUse = {
  readonly place: ColumnId;
  readonly steps: readonly FieldStep[];
  /** `undefined`: in a form that no column has. */
  readonly read: FieldRead | undefined;
  /** Something is computed of the values; else they are only shown. */
  readonly isComputed: boolean;
};

const READS: ReadonlySet<string> = new Set<FieldRead>([
  ...(['BOOL', 'INT64', 'FLOAT64', 'NUMBER', 'STRING'] as const),
]);

/** The fields that a plan reads, those in the plans of its subqueries left out. */
export class FieldUses {
  readonly places = new Map<ColumnId, Place>();
  readonly #uses = new Map<string, FieldUse>();

  constructor(plan: LogicalPlan, output: readonly Column[]) {
    this.#walk(plan);
    for (const { id } of output) this.#addWhole(id, false);
    for (const [id, place] of this.places) {
      if (place.kind === 'element' && !this.#isRead(id)) {
        this.#add({ place: id, steps: [], read: 'there', isComputed: true });
      }
    }
  }

  list(): readonly FieldUse[] {
    return [...this.#uses.values()];
  }

  /** The whole path of what is read below a place. */
  pathOf(place: ColumnId, steps: readonly FieldStep[], read: FieldRead): FieldPath {
    const at = must(this.places.get(place));
    if (at.kind === 'root') return { source: at.source, steps, read };
    const each = at.kind === 'element' ? (['each'] as const) : [];
    return this.pathOf(at.of, [...at.steps, ...each, ...steps], read);
  }

  /** The outermost list of which a place is an element; `undefined` outside of lists. */
  listOf(place: ColumnId): ColumnId | undefined {
    const at = must(this.places.get(place));
    if (at.kind === 'root') return undefined;
    return this.listOf(at.of) ?? (at.kind === 'element' ? place : undefined);
  }

  /** What an expression reads, if it only reads a field below a place. */
  findRead(expression: Expression): Omit<FieldUse, 'isComputed'> | undefined {
    if (expression.op === 'read-as' && READS.has(expression.type.kind)) {
      const found = this.findPath(expression.input);
      return found && { ...found, read: expression.type.kind as FieldRead };
    }
    const found = this.findPath(expression);
    if (found === undefined) return undefined;
    return { ...found, read: expression.type.kind === 'DYNAMIC' ? 'DYNAMIC' : undefined };
  }

  /** The field that an expression is. */
  findPath(expression: Expression): Pick<FieldUse, 'place' | 'steps'> | undefined {
    if (expression.op === 'column') {
      return this.places.has(expression.id) ? { place: expression.id, steps: [] } : undefined;
    }
    if (expression.op !== 'dynamic-field') return undefined;
    const { input, name } = expression;
    // A field of a list that was made of the value is none of the value itself.
    const found = input.type.kind === 'DYNAMIC' ? this.findPath(input) : undefined;
    return found && { ...found, steps: [...found.steps, { field: name }] };
  }

  #walk(plan: LogicalPlan): void {
    for (const input of inputsOf(plan)) this.#walk(input);
    switch (plan.op) {
      case 'scan':
        for (const { column, field } of plan.columns) {
          if (field === 'root') this.places.set(column.id, { kind: 'root', source: plan.source });
        }
        break;
      case 'unnest':
        this.#walkUnnest(plan);
        break;
      case 'project':
        this.#walkProject(plan);
        break;
      case 'union':
        for (const { from } of plan.columns) for (const id of from) this.#addWhole(id, true);
        break;
      default:
        for (const expression of expressionsOf(plan)) this.#collect(expression);
    }
  }

  #walkUnnest({ array, element, on }: Unnest): void {
    const found = this.findPath(array);
    if (found === undefined) this.#collect(array);
    else {
      const { place: of, steps } = found;
      const isConditional = on !== undefined;
      this.places.set(element.id, { kind: 'element', of, steps, isConditional });
    }
    if (on !== undefined) this.#collect(on);
  }

  #walkProject({ columns }: Project): void {
    for (const { column, expression } of columns) {
      const found = column.type.kind === 'DYNAMIC' ? this.findPath(expression) : undefined;
      if (found === undefined) this.#collect(expression);
      else if (found.place !== column.id) {
        this.places.set(column.id, { kind: 'name', of: found.place, steps: found.steps });
      }
    }
  }

  #collect(expression: Expression): void {
    const found = this.findRead(expression);
    if (found !== undefined) this.#add({ ...found, isComputed: true });
    else for (const child of childrenOf(expression)) this.#collect(child);
  }

  #addWhole(id: ColumnId, isComputed: boolean): void {
    if (this.places.has(id)) this.#add({ place: id, steps: [], read: 'DYNAMIC', isComputed });
  }

  #add(use: FieldUse): void {
    const key = useKey(use);
    const isComputed = use.isComputed || this.#uses.get(key)?.isComputed === true;
    this.#uses.set(key, { ...use, isComputed });
  }

  /** Whether anything is read below a place. */
  #isRead(place: ColumnId): boolean {
    for (const use of this.#uses.values()) if (use.place === place) return true;
    for (const [id, at] of this.places) {
      if (at.kind === 'root' || at.of !== place) continue;
      // At least the elements of a list are counted.
      if (at.kind === 'element' || this.#isRead(id)) return true;
    }
    return false;
  }
}

/** Tells uses apart. */
export function useKey({ place, steps, read }: Omit<FieldUse, 'isComputed'>): string {
  return JSON.stringify([place, read ?? '', steps]);
}
