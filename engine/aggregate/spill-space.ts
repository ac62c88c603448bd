import type { SpillFile } from '../column/spill-file.ts';

/** A state that can write what it holds to disk. */
export interface Spillable {
  /** Whether it did, and holds nothing any more. Throws what the disk or `pause` says. */
  spill(): boolean;
}

/**
 * The fewest bytes that a state writes at a time: fewer would free too little memory. A file of SPILLED_BYTES_MAX then has at
 * most 4,096 runs. Each run takes 2 KiB of memory, for the size and the hash of its parts.
 */
const RUN_BYTES_MIN = 256 * 1024;

/** Where the states of one task put what does not fit into its memory. */
export class SpillSpace {
  readonly file: SpillFile;
  /** A checkpoint at which the states may be made to spill. */
  readonly checkpoint: () => void;
  /** To be called while a state spills: a checkpoint that makes no state spill, and never parks the task. */
  readonly pause: () => void;
  readonly runBytesMin: number;
  readonly #states = new Set<Spillable>();

  constructor(
    options: Pick<SpillSpace, 'file' | 'checkpoint' | 'pause'> & { readonly runBytesMin?: number },
  ) {
    this.file = options.file;
    this.checkpoint = options.checkpoint;
    this.pause = options.pause;
    this.runBytesMin = options.runBytesMin ?? RUN_BYTES_MIN;
  }

  add(state: Spillable): void {
    this.#states.add(state);
  }

  delete(state: Spillable): void {
    this.#states.delete(state);
  }

  /** Makes all states spill that can. Whether one did. */
  relieve(): boolean {
    let isRelieved = false;
    for (const state of this.#states) if (state.spill()) isRelieved = true;
    return isRelieved;
  }
}
