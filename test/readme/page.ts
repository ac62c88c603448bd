import { must } from '../../engine/assert.ts';
import { filesBelow, readText } from '../support/source-files.ts';

/** Something between fences, and where it begins. */
export type Block = { readonly language: string; readonly text: string; readonly line: number };

/** A document that shows readers what to type. */
export type Page = {
  readonly path: string;
  /** All of its blocks, in their order. */
  readonly blocks: readonly Block[];
  /** Those that a reader would type into a shell. */
  readonly examples: readonly Block[];
};

/** A definition, what is expected of its calls, and over which events. */
type CheckedFiles = {
  readonly definition: Block;
  readonly expected: Block;
  readonly events: Block;
};

/** Languages in which an example's answer may be shown. */
const ANSWERS = ['json', 'csv', 'http', ''];

/** The time of the answers that are shown: docs/getting-started.md names it. */
export const SHOWN_NOW = '2026-01-15T12:00:00Z';

export const PAGES: readonly Page[] = [
  pageOf('README.md'),
  ...filesBelow('docs', '.md').map(({ path }) => pageOf(path)),
];

/** What readers of the other pages have done: their examples go on from there. */
export const FIRST_PAGE = pageAt('docs/getting-started.md');

export function pageAt(path: string): Page {
  return must(
    PAGES.find((page) => page.path === path),
    `there is a page ${path}`,
  );
}

/** The block behind an example, where that shows what comes of it. */
export function answerTo({ blocks }: Page, example: Block): Block | undefined {
  const next = blocks[blocks.indexOf(example) + 1];
  return next !== undefined && ANSWERS.includes(next.language) ? next : undefined;
}

/** Files of definitions that a page shows: their first line is the id. */
export function definitionsOf(page: Page): readonly Block[] {
  const checked = checkedFiles(page)?.definition;
  return page.blocks.filter((block) => isDefinition(block) && block !== checked);
}

/** Queries without a header: each is the text that a saved query would have. */
export function queriesOf({ blocks }: Page): readonly Block[] {
  return blocks.filter((block) => block.language === 'sql' && !isDefinition(block));
}

/** The three files that a page shows above `weir check`. */
export function checkedFiles({ blocks }: Page): CheckedFiles | undefined {
  const check = blocks.findIndex(({ text }) => text.startsWith('weir check'));
  if (check < 0) return undefined;
  const [definition, expected, events] = blocks.slice(check - 3, check);
  return { definition: must(definition), expected: must(expected), events: must(events) };
}

function isDefinition({ language, text }: Block): boolean {
  return language === 'sql' && text.startsWith('-- id: ');
}

function pageOf(path: string): Page {
  const text = readText(path);
  const blocks = Array.from(text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm), (found) => ({
    language: found[1]!,
    text: found[2]!,
    line: text.slice(0, found.index).split('\n').length,
  }));
  return { path, blocks, examples: blocks.filter(({ language }) => language === 'sh') };
}
