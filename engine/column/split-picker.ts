import { ByteTable, HASH_START, hashBytes, hashNext } from './byte-table.ts';
import { ANY } from './split-shape.ts';
import type { Template } from './split-template.ts';

/** Shapes of fewer strings of a sample are by chance. */
const STRINGS_MIN = 2;

/**
 * Picks shapes for the strings of a sample. Several templates give each string a shape, and a string is
 * taken apart by the first of these that is picked, which is the one with the fewest bytes of parts.
 */
export class ShapePicker {
  readonly #found = new ByteTable();
  readonly #levelCount: number;
  /** By string and level: the shape, or -1 if it is that of the level before, and the string's bytes with it. */
  readonly #shapes: Int32Array;
  readonly #sizes: Int32Array;
  /** The shape added last. */
  #lastShape = -1;
  /** By string: its bytes with the shapes picked, and the level of its shape; -1 for none. */
  readonly #sizesNow: Int32Array;
  readonly #levels: Int8Array;

  constructor(stringCount: number, levelCount: number) {
    this.#levelCount = levelCount;
    this.#shapes = new Int32Array(stringCount * levelCount);
    this.#sizes = new Int32Array(stringCount * levelCount);
    this.#sizesNow = new Int32Array(stringCount);
    this.#levels = new Int8Array(stringCount).fill(-1);
  }

  /** Of a string its bytes where none of its shapes is picked. */
  addWhole(index: number, size: number): void {
    this.#sizesNow[index] = size;
  }

  /** Of a string the shape that the template of a level just gave it, and its bytes with that. */
  add(index: number, level: number, { shape, shapeSize, shapeHash }: Template, size: number): void {
    const place = index * this.#levelCount + level;
    const found = this.#found.add(shape, 0, shapeSize, shapeHash);
    this.#shapes[place] = level > 0 && found === this.#lastShape ? -1 : found;
    this.#lastShape = found;
    this.#sizes[place] = size;
  }

  /** Up to `countMax` shapes, the one that fits all among them as shape 0. To be called once. */
  pick(countMax: number): ByteTable {
    const picked = new ByteTable();
    picked.add(Uint8Array.of(ANY), 0, 1, hashNext(HASH_START, ANY));
    const strings = this.#stringsOfShapes();
    const gains = this.#firstGains();
    while (picked.count < countMax) {
      const shape = indexOfMax(gains);
      if (shape < 0) break;
      const { bytes, offsets } = this.#found;
      const start = offsets[shape]!;
      const end = offsets[shape + 1]!;
      picked.add(bytes, start, end, hashBytes(bytes, start, end));
      for (const place of strings[shape]!) this.#take(place, gains);
    }
    return picked;
  }

  /** The level of a string's shape among those picked; `undefined` if none of its shapes is. */
  levelOf(index: number): number | undefined {
    const level = this.#levels[index]!;
    return level < 0 ? undefined : level;
  }

  /** For each shape the places of the strings that have it. */
  #stringsOfShapes(): readonly (readonly number[])[] {
    const strings: number[][] = Array.from({ length: this.#found.count }, () => []);
    for (const [place, shape] of this.#shapes.entries())
      if (shape >= 0) strings[shape]!.push(place);
    return strings;
  }

  /** For each shape the bytes that it saves as the first; 0 of those by chance. */
  #firstGains(): Float64Array {
    const gains = new Float64Array(this.#found.count);
    const counts = new Uint32Array(this.#found.count);
    for (const [place, shape] of this.#shapes.entries()) {
      if (shape < 0) continue;
      counts[shape]!++;
      gains[shape]! += this.#gain(place);
    }
    return gains.map((gain, shape) => (counts[shape]! < STRINGS_MIN ? 0 : gain));
  }

  /** Bytes saved of a string by a shape of it. */
  #gain(place: number): number {
    const index = Math.floor(place / this.#levelCount);
    return Math.max(0, this.#sizesNow[index]! - this.#sizes[place]!);
  }

  /** Gives a string a shape that was picked, if that is better; all others now gain less by it. */
  #take(place: number, gains: Float64Array): void {
    const gain = this.#gain(place);
    if (gain === 0) return;
    const index = Math.floor(place / this.#levelCount);
    const from = index * this.#levelCount;
    const before = this.#sizesNow[index]!;
    const now = this.#sizes[place]!;
    for (let other = from; other < from + this.#levelCount; other++) {
      if (this.#shapes[other]! < 0) continue;
      const size = this.#sizes[other]!;
      gains[this.#shapes[other]!]! -= Math.max(0, before - size) - Math.max(0, now - size);
    }
    this.#sizesNow[index] = now;
    this.#levels[index] = place - from;
  }
}

/** -1 when none is greater than 0. */
function indexOfMax(gains: Float64Array): number {
  let best = -1;
  let most = 0;
  for (let shape = 0; shape < gains.length; shape++) {
    if (gains[shape]! > most) {
      most = gains[shape]!;
      best = shape;
    }
  }
  return best;
}
