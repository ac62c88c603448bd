import { ANSWER_BLOCK_BYTES_MAX, ANSWER_BLOCKS_MAX } from '../limits.ts';

/** Bytes on loan: they stay as they are until they are given back. */
export type LentBytes = {
  readonly bytes: Uint8Array;
  /**
   * One shared integer: the loan under way of the block that `bytes` lies in, or FREE. Absent of a long answer, which
   * has memory of its own that goes along to another thread (`ResizableBuffer`).
   */
  readonly state?: Int32Array;
  readonly loan: number;
};

/**
 * Memory that is the system's again at once when it is made shorter, and not only when every thread has collected its
 * garbage. The language has it (ECMAScript 2024); our library of types is older.
 */
type ResizableBuffer = ArrayBuffer & { resize(size: number): void };
const ResizableBuffer = ArrayBuffer as unknown as new (
  size: number,
  options: { readonly maxByteLength: number },
) => ResizableBuffer;

const FREE = 0;
/** What stands before the bytes of a block: its state, and nothing to fill eight bytes. */
const HEADER_SIZE = 8;
const BLOCK_BYTES_MIN = 64 * 1024;

type Block = { readonly memory: SharedArrayBuffer; readonly state: Int32Array };

/**
 * The memory in which a worker's answers travel to the main thread, used again and again.
 *
 * Memory outside the heap that comes and goes with each answer makes V8 collect all garbage of both
 * threads every few dozen answers, and its helper threads take the cores from the workers: a call
 * of 300 KB cost three times the processor time that it costs with blocks that are lent.
 */
export class AnswerBlocks {
  readonly #blocks: Block[] = [];
  readonly #blockBytesMax: number;
  #loanCount = 0;

  /** `blockBytesMax`: bytes of the largest block. */
  constructor(blockBytesMax: number = ANSWER_BLOCK_BYTES_MAX) {
    this.#blockBytesMax = blockBytesMax;
  }

  /** Copies the bytes to a block that nobody reads; where they are too many, to memory of their own. */
  lend(bytes: Uint8Array): LentBytes {
    if (bytes.length > this.#blockBytesMax) {
      const own = new ResizableBuffer(bytes.length, { maxByteLength: bytes.length });
      const copy = new Uint8Array(own, 0, bytes.length);
      copy.set(bytes);
      return { bytes: copy, loan: 0 };
    }
    const { memory, state } = this.#freeBlock(bytes.length);
    // A number is used again after 2^31 loans, when no answer of the first is left to be confused.
    this.#loanCount = (this.#loanCount % 0x7fffffff) + 1;
    Atomics.store(state, 0, this.#loanCount);
    const copy = new Uint8Array(memory, HEADER_SIZE, bytes.length);
    copy.set(bytes);
    return { bytes: copy, state, loan: this.#loanCount };
  }

  /** A kept block where one is free and large enough, else a new one, kept if there is room. */
  #freeBlock(size: number): Block {
    const free = this.#blocks.filter(({ state }) => Atomics.load(state, 0) === FREE);
    const fitting = free.find(({ memory }) => memory.byteLength - HEADER_SIZE >= size);
    if (fitting !== undefined) return fitting;
    const capacity = Math.max(BLOCK_BYTES_MIN, 2 ** Math.ceil(Math.log2(Math.max(size, 1))));
    const memory = new SharedArrayBuffer(HEADER_SIZE + capacity);
    const block = { memory, state: new Int32Array(memory, 0, 1) };
    if (this.#blocks.length < ANSWER_BLOCKS_MAX) this.#blocks.push(block);
    else if (free[0] !== undefined) this.#blocks[this.#blocks.indexOf(free[0])] = block;
    return block;
  }
}

/** Ends a loan: the bytes may be written over from now on, or are no more. A second time does nothing. */
export function giveBack({ bytes, state, loan }: LentBytes): void {
  if (state === undefined) (bytes.buffer as ResizableBuffer).resize(0);
  else Atomics.compareExchange(state, 0, loan, FREE);
}
