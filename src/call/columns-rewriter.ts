import { typeName } from '../../engine/columns.ts';
import { REWRITTEN_BYTES } from '../limits.ts';
import type { ResultColumn } from './answer-format.ts';
import type { RowsRewriter } from './rows-rewriter.ts';

/** Rows as JSON, and behind them the names and types of their columns, in order. */
export class ColumnsRewriter implements RowsRewriter {
  readonly #rows: Uint8Array;
  readonly #end: Uint8Array;
  #at = 0;
  #isEnded = false;

  constructor(rows: Uint8Array, columns: readonly ResultColumn[]) {
    this.#rows = rows;
    const typed = columns.map(({ name, type }) => ({ name, type: typeName(type) }));
    this.#end = Buffer.from(`,"columns":${JSON.stringify(typed)}}`);
  }

  next(): Uint8Array | undefined {
    if (this.#isEnded) return undefined;
    const start = this.#at;
    this.#at = Math.min(start + REWRITTEN_BYTES, this.#rows.length);
    this.#isEnded = this.#at === this.#rows.length;
    const parts = [this.#rows.subarray(start, this.#at)];
    if (start === 0) parts.unshift(START);
    if (this.#isEnded) parts.push(this.#end);
    return Buffer.concat(parts);
  }
}

const START = Buffer.from('{"result":');
