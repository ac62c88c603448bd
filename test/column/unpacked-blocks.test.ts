import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnpackedBlocks } from '../../engine/column/file-blocks.ts';

test('the blocks of two readers have different keys', () => {
  const blocks = new UnpackedBlocks();
  const [one, other] = [blocks.newKeys(), blocks.newKeys()];
  const room = blocks.takeRoom(10);
  blocks.keep(one + 3, room);
  assert.equal(blocks.find(one + 3), room);
  assert.equal(blocks.find(other + 3), undefined);
});

test('however many segments are read, blocks take no more memory than those of one', () => {
  const blocks = new UnpackedBlocks();
  const rooms = new Set<ArrayBufferLike>();
  const keys: number[] = [];
  for (let segment = 0; segment < 50; segment++) {
    const firstKey = blocks.newKeys();
    for (let block = 0; block < 8; block++) {
      const room = blocks.takeRoom(20_000 + 5_000 * block);
      rooms.add(room.buffer);
      blocks.keep(firstKey + block, room);
      keys.push(firstKey + block);
    }
  }
  assert.equal(rooms.size, 16);
  const areKept = keys.map((key) => blocks.find(key) !== undefined);
  assert.deepEqual(areKept, [...new Array(384).fill(false), ...new Array(16).fill(true)]);
});

test('a block larger than usual gets memory as large', () => {
  const blocks = new UnpackedBlocks();
  for (let key = 0; key < 16; key++) blocks.keep(key, blocks.takeRoom(1));
  assert.ok(blocks.takeRoom(1_000_000).length >= 1_000_000);
});
