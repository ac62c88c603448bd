import type { JsonWriter } from './json-writer.ts';
import { endOfNode, type Skeletons, slotCount } from './skeleton.ts';
import { EMPTY_LIST, KIND_MASK, NODE_HEADER_SIZE, RECORD } from './token.ts';
import type { TokenSource } from './token-source.ts';
import type { Nested, SqlValue } from './value.ts';

/** A record, or a list of records, or the empty list. */
export class TokenNested implements Nested {
  readonly isList: boolean;
  readonly #source: TokenSource;
  readonly #skeletons: Skeletons;
  readonly #row: number;
  readonly #node: number;

  constructor(source: TokenSource, skeletons: Skeletons, row: number, node: number) {
    this.#source = source;
    this.#skeletons = skeletons;
    this.#row = row;
    this.#node = node;
    this.isList = (skeletons.arrays.tokens[node]! & KIND_MASK) !== RECORD;
  }

  field(name: string): SqlValue {
    return this.#source.fieldValue(this.#row, this.#node, name);
  }

  elements(): readonly SqlValue[] {
    if (!this.isList) return [this];
    const { tokens } = this.#skeletons.arrays;
    const elements: Nested[] = [];
    if ((tokens[this.#node]! & KIND_MASK) === EMPTY_LIST) return elements;
    const end = endOfNode(tokens, this.#node);
    let place = this.#skeletons.place(this.#node);
    for (let at = this.#node + NODE_HEADER_SIZE; at < end; at = endOfNode(tokens, at)) {
      this.#skeletons.remember(at, place);
      place += slotCount(tokens, at);
      elements.push(this.#source.nested(this.#row, at));
    }
    return elements;
  }

  writeJson(out: JsonWriter, isKept = false): void {
    this.#source.writeJson({ row: this.#row, node: this.#node, isKept }, out);
  }
}
