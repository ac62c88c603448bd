/**
 * Does the same work again and again, with garbage collected in between, `now`, `beside`, or beside while the thread is
 * `busy`: run with `--trace-deopt`, V8 tells of the code that it throws away. Prints how much shared memory was freed of
 * each kind.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { collectGarbage, collectGarbageBeside } from '../../engine/column/garbage.ts';
import { COLLECTING_MS_MAX } from '../../engine/limits.ts';

const ROUNDS = 6;
const PIECES = 300;

/** Of a class like this none lives between two rounds. */
class Piece {
  readonly count: number;
  readonly #values: Uint32Array;

  constructor(count: number) {
    this.count = count;
    this.#values = new Uint32Array(count).fill(1);
  }

  get sum(): number {
    let sum = 0;
    for (let index = 0; index < this.count; index++) sum += this.#values[index]!;
    return sum;
  }
}

function work(): number {
  let total = 0;
  for (let piece = 0; piece < PIECES; piece++) total += new Piece(1_000).sum;
  return total;
}

const how = process.argv[2];

async function collectBeside(): Promise<void> {
  const collected = collectGarbageBeside();
  // It begins in this turn of the event loop.
  await wait(0);
  if (how === 'busy') blockFor(COLLECTING_MS_MAX + 50);
  await collected;
}

/** Does nothing else, as a thread that has no processor. */
function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

let freed = 0;
const shared = new FinalizationRegistry(() => {
  freed += 1;
});

for (let round = 0; round < ROUNDS; round++) {
  for (let part = 0; part < 2; part++) {
    work();
    // What was hot is compiled meanwhile.
    await wait(30);
  }
  shared.register(new SharedArrayBuffer(1024), undefined);
  await wait(0);
  if (how === 'now') collectGarbage();
  else await collectBeside();
  await wait(0);
}
console.log(`freed ${freed} of ${ROUNDS}`);
