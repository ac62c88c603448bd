import type { PackedNumbers } from './packed-numbers.ts';
import { TRUE } from './vector.ts';

const NO_ROWS = new Int32Array(0);

/** What a test says of integers where they lie, by their codes. `values` is made when somebody reads it. */
export class CodedTruths {
  readonly kind = 'boolean';
  readonly count: number;
  readonly numbers: PackedNumbers;
  /** FALSE, TRUE or UNKNOWN for each code. */
  readonly truthOfCode: Uint8Array;
  /** Rows, ascending, that are TRUE though their code is FALSE: of these the code does not decide. */
  readonly alsoTrue: Int32Array;
  #values: Uint8Array | undefined;

  constructor(numbers: PackedNumbers, truthOfCode: Uint8Array, alsoTrue: Int32Array = NO_ROWS) {
    this.count = numbers.count;
    this.numbers = numbers;
    this.truthOfCode = truthOfCode;
    this.alsoTrue = alsoTrue;
  }

  get values(): Uint8Array {
    this.#values ??= this.#spread();
    return this.#values;
  }

  #spread(): Uint8Array {
    const { codes, start, count } = this.numbers;
    const truthOfCode = this.truthOfCode;
    const values = new Uint8Array(count);
    if (codes instanceof Uint8Array) {
      for (let i = 0; i < count; i++) values[i] = truthOfCode[codes[start + i]!]!;
    } else {
      for (let i = 0; i < count; i++) values[i] = truthOfCode[codes[start + i]!]!;
    }
    for (const row of this.alsoTrue) values[row] = TRUE;
    return values;
  }
}
