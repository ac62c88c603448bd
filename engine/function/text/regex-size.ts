/**
 * About how many instructions a regular expression compiles to: its characters, and what a repetition
 * `{n,m}` stands behind as often as it may be. Never throws: of what is no pattern it is some number.
 */
export function instructionsOf(pattern: string): number {
  /** Instructions of each group that is open, the whole as the first; `last`: of its newest item. */
  const open = [{ total: 0, last: 0 }];
  for (const [token, repetition] of pattern.matchAll(TOKENS)) {
    const group = open.at(-1)!;
    if (repetition !== undefined) {
      group.total += group.last * (timesOf(repetition) - 1);
      group.last *= timesOf(repetition);
    } else if (token === '(') {
      open.push({ total: 0, last: 0 });
    } else if (token === ')' && open.length > 1) {
      open.pop();
      const outer = open.at(-1)!;
      outer.last = group.total + 2;
      outer.total += outer.last;
    } else if (!'*+?'.includes(token)) {
      group.last = 1;
      group.total += 1;
    } else {
      group.last += 1;
      group.total += 1;
    }
  }
  return open.reduce((sum, { total }) => sum + total, 0);
}

/** A repetition, an escaped character, a class of characters, or one character. */
const TOKENS = /\{(\d+(?:,\d*)?)\}|\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*\]|./gs;

/** How often the item of `{n}`, `{n,}` or `{n,m}` is written out. */
function timesOf(repetition: string): number {
  const [least, most] = repetition.split(',');
  return Math.max(1, Number(least) + (most === '' ? 1 : 0), Number(most ?? 0));
}
