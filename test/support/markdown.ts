import GithubSlugger from 'github-slugger';

/** Code between fences. */
const BLOCK = /^ *(`{3,}|~{3,}).*\n[\s\S]*?^ *\1[`~]* *$/gm;

/** Code between as many backticks before as behind, within a paragraph. */
const CODE = /(?<!`)(`+)(?!`)((?:(?!\n\n)[\s\S])*?[^`])\1(?!`)/g;

const LINK = /\]\(<?([^)>\s]+)[^)]*\)|\s(?:href|src)="([^"]+)"|^\[[^\]]+\]: +<?([^>\s]+)/gm;

const ANCHOR = /^#{1,6} +(.*?)(?: +#+)? *$|<a (?:id|name)="([^"]+)"/gm;

/** What a document links to in itself and beside it, as it is written: nothing of other machines. */
export function linksOf(text: string): readonly string[] {
  const links = text.replaceAll(BLOCK, '').replaceAll(CODE, '').matchAll(LINK);
  return Array.from(links, ([, inline, html, reference]) => (inline ?? html ?? reference)!).filter(
    (link) => !/^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(link),
  );
}

/** The anchors that GitHub gives a document's headings, and those that it sets itself. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const slugger = new GithubSlugger();
  const anchors = text.replaceAll(BLOCK, '').matchAll(ANCHOR);
  return new Set(
    Array.from(anchors, ([, heading, own]) => own ?? slugger.slug(plainText(heading!))),
  );
}

/** What stands between backticks in the sentences of a document. */
export function codeOf(text: string): readonly string[] {
  return Array.from(text.replaceAll(BLOCK, '').matchAll(CODE), ([, , code]) => code!);
}

/** The words of a heading, without where they link to and without emphasis by underscores. */
function plainText(heading: string): string {
  return heading
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/(?<!\w)_([^_]+)_(?!\w)/g, '$1');
}
