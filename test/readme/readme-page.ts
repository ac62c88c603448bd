import { readText } from '../support/source-files.ts';

/** Something between fences, and where it begins. */
export type Block = { readonly language: string; readonly text: string; readonly line: number };

/** Languages in which an example's answer may be shown. */
const ANSWERS = ['json', 'csv', 'http', ''];

/** All of the README, in its order. */
export const BLOCKS: readonly Block[] = blocksOf(readText('README.md'));

/** What a reader would type into a shell. */
export const EXAMPLES = BLOCKS.filter(({ language }) => language === 'sh');

/** The time at which the answers that are shown came back: README.md says so. */
export const SHOWN_NOW = '2026-01-15T12:00:00Z';

/** The block behind an example, where that shows what comes of it. */
export function answerTo(example: Block): Block | undefined {
  const next = BLOCKS[BLOCKS.indexOf(example) + 1];
  return next !== undefined && ANSWERS.includes(next.language) ? next : undefined;
}

/** The files that stand below `weir check`: what is expected of calls, and over which events. */
export function checkedFiles(): { readonly expected: Block; readonly events: Block } {
  const check = BLOCKS.findIndex(({ text }) => text.startsWith('weir check'));
  const [expected, events] = BLOCKS.slice(check + 1);
  return { expected: expected!, events: events! };
}

function blocksOf(page: string): Block[] {
  return Array.from(page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm), (found) => ({
    language: found[1]!,
    text: found[2]!,
    line: page.slice(0, found.index).split('\n').length,
  }));
}
