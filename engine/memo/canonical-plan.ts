import type { PhysicalPlan } from '../plan/physical-plan.ts';

/**
 * A text that only plans share that give the same rows over the same segments: windows of scans, the
 * names of columns, the places in the text they came from and the numbers that columns happen to have
 * are left out. `undefined` when the plan holds what is no plain value.
 */
export function canonicalText(plan: PhysicalPlan): string | undefined {
  const writer = new CanonicalWriter();
  return writer.write(plan, false) ? writer.text : undefined;
}

/** Under these names plans have the ids of columns. */
const COLUMN_NAMES: ReadonlySet<string> = new Set(['id', 'per', 'capture', 'from']);

class CanonicalWriter {
  text = '';
  /** Columns by the order in which they are met. */
  readonly #columns = new Map<number, number>();

  /** False when the value is no plain one. `isColumn`: its numbers are the ids of columns. */
  write(value: unknown, isColumn: boolean): boolean {
    switch (typeof value) {
      case 'string':
        this.text += JSON.stringify(value);
        return true;
      case 'number':
        this.text += isColumn ? `#${this.#column(value)}` : numberText(value);
        return true;
      case 'bigint':
        this.text += `${value}n`;
        return true;
      case 'boolean':
        this.text += value ? 'true' : 'false';
        return true;
      case 'object':
        return this.#writeObject(value, isColumn);
      default:
        return false;
    }
  }

  #writeObject(value: object | null, areColumns: boolean): boolean {
    if (value === null) {
      this.text += 'null';
      return true;
    }
    if (Array.isArray(value)) return this.#writeAll(value, areColumns);
    if (!isPlainObject(value)) return false;
    this.text += '{';
    const isColumn = !('op' in value) && 'id' in value && 'name' in value;
    const isScan = value['op'] === 'scan';
    for (const name of Object.keys(value).sort()) {
      const part = value[name];
      if (part === undefined || name === 'span') continue;
      if ((isColumn && name === 'name') || (isScan && name === 'window')) continue;
      this.text += `${name}:`;
      if (!this.write(part, COLUMN_NAMES.has(name))) return false;
      this.text += ',';
    }
    this.text += '}';
    return true;
  }

  #writeAll(values: readonly unknown[], areColumns: boolean): boolean {
    this.text += '[';
    for (const value of values) {
      if (!this.write(value, areColumns)) return false;
      this.text += ',';
    }
    this.text += ']';
    return true;
  }

  #column(id: number): number {
    const known = this.#columns.get(id);
    if (known !== undefined) return known;
    this.#columns.set(id, this.#columns.size);
    return this.#columns.size - 1;
  }
}

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
