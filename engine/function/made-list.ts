import { numberText } from '../column/json-buffer.ts';
import type { JsonWriter } from '../column/json-writer.ts';
import type { Nested, SqlValue } from '../column/value.ts';
import { isNested } from '../column/value.ts';

/** An ARRAY that became DYNAMIC, beside lists of events, whose JSON it has too: its elements are DYNAMIC values. */
export class MadeList implements Nested {
  readonly isList = true;
  readonly #elements: readonly SqlValue[];

  constructor(elements: readonly SqlValue[]) {
    this.#elements = elements;
  }

  field(name: string): SqlValue {
    const [only] = this.#elements;
    if (this.#elements.length !== 1 || only === undefined) return null;
    return isNested(only) && !only.isList ? only.field(name) : null;
  }

  elements(): readonly SqlValue[] {
    return this.#elements;
  }

  writeJson(out: JsonWriter): void {
    out.raw('[');
    for (const [index, element] of this.#elements.entries()) {
      if (index > 0) out.raw(',');
      writeElement(element, out);
    }
    out.raw(']');
  }
}

function writeElement(element: SqlValue, out: JsonWriter): void {
  if (isNested(element)) element.writeJson(out);
  else if (typeof element === 'string') out.string(element);
  else if (typeof element === 'number' && !Number.isFinite(element)) out.string(String(element));
  else if (typeof element === 'number') out.raw(numberText(element));
  else out.raw(String(element));
}
