/** The place of the lowest bit of a word that is set; some is. */
export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}
