import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANSWER_BLOCK_BYTES_MAX, ANSWER_BLOCKS_MAX } from '../../engine/limits.ts';
import { AnswerBlocks, giveBack, type LentBytes } from '../../engine/pool/task.ts';

function memoryOf({ bytes }: LentBytes): ArrayBufferLike {
  return bytes.buffer;
}

test('lends the same memory again once it was given back, and not before', () => {
  const blocks = new AnswerBlocks();
  const first = blocks.lend(Buffer.from('first'));
  const second = blocks.lend(Buffer.from('second'));
  assert.notEqual(memoryOf(first), memoryOf(second));
  giveBack(first);
  const third = blocks.lend(Buffer.from('third'));
  assert.equal(memoryOf(third), memoryOf(first));
  assert.equal(Buffer.from(second.bytes).toString(), 'second');
  assert.equal(Buffer.from(third.bytes).toString(), 'third');
});

test('giving back twice does not end the loan of the next reader', () => {
  const blocks = new AnswerBlocks();
  const first = blocks.lend(Buffer.from('first'));
  giveBack(first);
  const second = blocks.lend(Buffer.from('second'));
  giveBack(first);
  const third = blocks.lend(Buffer.from('third'));
  assert.notEqual(memoryOf(third), memoryOf(second));
});

test('keeps no block beyond the largest, and no more blocks than it may', () => {
  const blocks = new AnswerBlocks();
  const large = blocks.lend(new Uint8Array(ANSWER_BLOCK_BYTES_MAX + 1));
  giveBack(large);
  const small = blocks.lend(new Uint8Array(1));
  assert.notEqual(memoryOf(small), memoryOf(large));
  const loans = Array.from({ length: ANSWER_BLOCKS_MAX + 3 }, () => blocks.lend(new Uint8Array(1)));
  const before = new Set(loans.map(memoryOf).concat(memoryOf(small)));
  for (const loan of [small, ...loans]) giveBack(loan);
  const after = Array.from({ length: before.size }, () => blocks.lend(new Uint8Array(1)));
  const kept = after.filter((loan) => before.has(memoryOf(loan)));
  assert.equal(kept.length, ANSWER_BLOCKS_MAX);
});

test('the memory of a long answer is gone when it is given back, whoever still names it', () => {
  const long = new AnswerBlocks().lend(new Uint8Array(ANSWER_BLOCK_BYTES_MAX + 1).fill(7));
  assert.equal(long.bytes.length, ANSWER_BLOCK_BYTES_MAX + 1);
  assert.equal(long.bytes.at(-1), 7);
  giveBack(long);
  assert.equal(memoryOf(long).byteLength, 0);
  giveBack(long);
});

test('what is lent stays as it is until it is given back, whatever else is lent', () => {
  const step = fc.oneof(
    fc.record({ lend: fc.uint8Array({ maxLength: 200_000 }) }),
    fc.record({ giveBack: fc.nat() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const blocks = new AnswerBlocks();
      const loans: { readonly loan: LentBytes; readonly bytes: Uint8Array }[] = [];
      for (const step of steps) {
        if ('lend' in step) loans.push({ loan: blocks.lend(step.lend), bytes: step.lend });
        else if (loans.length > 0) {
          const [ended] = loans.splice(step.giveBack % loans.length, 1);
          giveBack(ended!.loan);
          giveBack(ended!.loan);
        }
        for (const { loan, bytes } of loans) assert.deepEqual(Buffer.compare(loan.bytes, bytes), 0);
      }
    }),
    { numRuns: 50 },
  );
});
