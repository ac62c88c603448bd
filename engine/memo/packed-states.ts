import { deserialize, serialize } from 'node:v8';
import type { AggregatePartial } from '../operator/aggregate.ts';
import { PACKED_STATE_BYTES_MAX, PACKED_STATES_BYTES_MAX, PACKED_STATES_MAX } from './limits.ts';

/**
 * Many small partial states of one segment, each under the name of a project or a prefix. Some 200 bytes a state,
 * where its arrays alone take ten times as much: that of `names[i]` ends at `ends[i]`.
 */
export type PackedStates = {
  readonly names: readonly string[];
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
};

/** What a name costs beside its two bytes a letter. */
const NAME_BYTES = 48;

/** Under this key a segment has the small states of a family. */
export function shelfKey({ familyKey }: { readonly familyKey: string }): string {
  return `${familyKey} shelf`;
}

/** Packs states as they are made; what is too much, or large itself, is left out. */
export class StatePacker {
  readonly #names: string[] = [];
  readonly #ends: number[] = [];
  readonly #parts: Uint8Array[] = [];
  #size = 0;

  get isFull(): boolean {
    return this.#names.length >= PACKED_STATES_MAX || this.#size >= PACKED_STATES_BYTES_MAX;
  }

  add(name: string, partial: AggregatePartial): void {
    const bytes = serialize(partial);
    if (this.isFull || bytes.length > PACKED_STATE_BYTES_MAX) return;
    this.#size += bytes.length;
    this.#names.push(name);
    this.#ends.push(this.#size);
    this.#parts.push(bytes);
  }

  /** `undefined`: there is none. */
  packed(): PackedStates | undefined {
    if (this.#names.length === 0) return undefined;
    const bytes = new Uint8Array(this.#size);
    for (const [index, part] of this.#parts.entries()) {
      bytes.set(part, this.#ends[index]! - part.length);
    }
    return { names: this.#names, ends: Uint32Array.from(this.#ends), bytes };
  }
}

/** Packed states, each taken out when it is asked for, in some 5 µs. */
export class StateShelf {
  readonly byteSize: number;
  readonly #ends: Uint32Array;
  readonly #bytes: Uint8Array;
  readonly #indexes: ReadonlyMap<string, number>;

  constructor({ names, ends, bytes }: PackedStates) {
    this.#ends = ends;
    this.#bytes = bytes;
    this.#indexes = new Map(names.map((name, index) => [name, index]));
    const namesSize = names.reduce((sum, name) => sum + NAME_BYTES + 2 * name.length, 0);
    this.byteSize = bytes.byteLength + ends.byteLength + namesSize;
  }

  /** To be combined with others, not kept: its arrays may lie among those of all states. */
  find(name: string): AggregatePartial | undefined {
    const index = this.#indexes.get(name);
    if (index === undefined) return undefined;
    const start = index === 0 ? 0 : this.#ends[index - 1]!;
    return deserialize(this.#bytes.subarray(start, this.#ends[index])) as AggregatePartial;
  }
}
