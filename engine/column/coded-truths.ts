import { carvedUint8 } from './carved-arrays.ts';
import type { PackedNumbers } from './packed-numbers.ts';
import { FALSE, TRUE } from './vector.ts';

const NO_ROWS = new Int32Array(0);

/** What a test says of integers where they lie, by their codes. `values` is made when somebody reads it. */
export class CodedTruths {
  readonly kind = 'boolean';
  readonly form = 'coded truths';
  readonly count: number;
  readonly numbers: PackedNumbers;
  /** FALSE, TRUE or UNKNOWN for each code. */
  readonly truthOfCode: Uint8Array;
  /** Rows, ascending, that are TRUE though their code is FALSE, or FALSE though it is TRUE. */
  readonly exceptions: Int32Array;
  #values: Uint8Array | undefined;

  constructor(numbers: PackedNumbers, truthOfCode: Uint8Array, exceptions: Int32Array = NO_ROWS) {
    this.count = numbers.count;
    this.numbers = numbers;
    this.truthOfCode = truthOfCode;
    this.exceptions = exceptions;
  }

  get values(): Uint8Array {
    this.#values ??= this.#spread();
    return this.#values;
  }

  #spread(): Uint8Array {
    const { codes, start, count } = this.numbers;
    const truthOfCode = this.truthOfCode;
    const values = carvedUint8(count);
    if (codes instanceof Uint8Array) {
      for (let i = 0; i < count; i++) values[i] = truthOfCode[codes[start + i]!]!;
    } else {
      for (let i = 0; i < count; i++) values[i] = truthOfCode[codes[start + i]!]!;
    }
    for (const row of this.exceptions) values[row] = values[row] === TRUE ? FALSE : TRUE;
    return values;
  }
}
