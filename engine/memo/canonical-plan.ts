import type { PhysicalPlan } from '../plan/physical-plan.ts';

/** In the place of the project of a scan; no value is written like this. */
const PROJECT = '$project';

/**
 * A text that only plans share that give the same rows over the same segments: windows of scans, the
 * names of columns, the places in the text they came from and the numbers that columns happen to have
 * are left out. `projectKey` is written as any project would be. `undefined` when the plan holds what is
 * no plain value.
 */
export function canonicalText(
  plan: PhysicalPlan,
  projectKey?: string | undefined,
): string | undefined {
  const writer = new CanonicalWriter(projectKey);
  return writer.write(plan, 'other') ? writer.text : undefined;
}

/**
 * The same plan with another project in the place of its own: as the key of its scan, and as what
 * something is equal to, be it the project or, by chance, something else.
 */
export function withProject<P extends PhysicalPlan>(
  plan: P,
  project: { readonly from: string; readonly to: string },
): P {
  return replaced(plan, 'other', project) as P;
}

/** What stands at a place of a plan, as far as a project may stand there. */
type Place = 'equals' | 'side' | 'project' | 'column' | 'other';

function placeOf(parent: Record<string, unknown>, name: string, place: Place): Place {
  if (COLUMN_NAMES.has(name)) return 'column';
  if (parent['op'] === 'scan' && PROJECT_NAMES.has(name)) return 'project';
  if (parent['op'] === 'call' && parent['name'] === '=' && name === 'arguments') return 'equals';
  return place === 'side' && parent['op'] === 'literal' && name === 'value' ? 'project' : 'other';
}

/** The columns of a union's inputs are a list of columns, and what a scan may read one of projects. */
function placeInList(place: Place): Place {
  if (place === 'equals') return 'side';
  return place === 'column' || place === 'project' ? place : 'other';
}

/** Under these names scans have projects. */
const PROJECT_NAMES: ReadonlySet<string> = new Set(['projectKey', 'reach']);

/** Under these names plans have the ids of columns. */
const COLUMN_NAMES: ReadonlySet<string> = new Set(['id', 'per', 'capture', 'from']);

function replaced(
  value: unknown,
  place: Place,
  project: { readonly from: string; readonly to: string },
): unknown {
  if (place === 'project' && typeof value === 'string') {
    return value === project.from ? project.to : value;
  }
  if (Array.isArray(value)) {
    return value.map((item) => replaced(item, placeInList(place), project));
  }
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      replaced(part, placeOf(value, name, place), project),
    ]),
  );
}

class CanonicalWriter {
  text = '';
  readonly #projectKey: string | undefined;
  /** Columns by the order in which they are met. */
  readonly #columns = new Map<number, number>();

  constructor(projectKey: string | undefined) {
    this.#projectKey = projectKey;
  }

  /** False when the value is no plain one. */
  write(value: unknown, place: Place): boolean {
    switch (typeof value) {
      case 'string':
        this.text +=
          place === 'project' && value === this.#projectKey ? PROJECT : JSON.stringify(value);
        return true;
      case 'number':
        this.text += place === 'column' ? `#${this.#column(value)}` : numberText(value);
        return true;
      case 'bigint':
        this.text += `${value}n`;
        return true;
      case 'boolean':
        this.text += value ? 'true' : 'false';
        return true;
      case 'object':
        return this.#writeObject(value, place);
      default:
        return false;
    }
  }

  #writeObject(value: object | null, place: Place): boolean {
    if (value === null) {
      this.text += 'null';
      return true;
    }
    if (Array.isArray(value)) return this.#writeAll(value, placeInList(place));
    if (!isPlainObject(value)) return false;
    this.text += '{';
    const isColumn = !('op' in value) && 'id' in value && 'name' in value;
    const isScan = value['op'] === 'scan';
    for (const name of Object.keys(value).sort()) {
      const part = value[name];
      if (part === undefined || name === 'span') continue;
      if ((isColumn && name === 'name') || (isScan && name === 'window')) continue;
      this.text += `${name}:`;
      if (!this.write(part, placeOf(value, name, place))) return false;
      this.text += ',';
    }
    this.text += '}';
    return true;
  }

  #writeAll(values: readonly unknown[], place: Place): boolean {
    this.text += '[';
    for (const value of values) {
      if (!this.write(value, place)) return false;
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
