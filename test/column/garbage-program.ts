/**
 * Does the same work again and again, with garbage collected in between: `now`, `keeping` code, `beside`, or `begun` in one
 * round and ended in the next. Run with `--trace-deopt`, V8 tells which code it throws away. Prints how many pieces of shared memory were freed.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  arrayBytes,
  beginCollecting,
  collectGarbage,
  collectGarbageBeside,
  collectKeepingCode,
  letCollect,
} from '../../engine/column/garbage.ts';

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

let freed = 0;
const shared = new FinalizationRegistry(() => {
  freed += 1;
});

const [, , how] = process.argv;
const bytesMax = arrayBytes() + 8 * 2 ** 20;

function checkArrayBytes(): void {
  if (arrayBytes() > bytesMax)
    throw new Error('what begins a collection counts as an array in use');
}

for (let round = 0; round < ROUNDS; round++) {
  for (let part = 0; part < 2; part++) {
    work();
    // What was hot is compiled meanwhile.
    await wait(30);
  }
  shared.register(new SharedArrayBuffer(1024), undefined);
  await wait(0);
  if (how === 'begun') {
    beginCollecting();
    checkArrayBytes();
    work();
    await letCollect();
  } else if (how === 'beside') {
    await collectGarbageBeside();
    checkArrayBytes();
  } else if (how === 'keeping') {
    collectKeepingCode();
    checkArrayBytes();
  } else collectGarbage();
  await wait(0);
}
if (how === 'begun') await collectGarbageBeside();
await wait(0);
console.log(`freed ${freed} of ${ROUNDS}`);
