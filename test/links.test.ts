import { deepEqual, ok } from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { anchorsOf, codeOf, linksOf } from './support/markdown.ts';
import { filesBelow, hasPath, readText, topOfRepository } from './support/source-files.ts';

const TOP = topOfRepository();
const FOLDERS = ['bench', 'docs', 'engine', 'ingest', 'src', 'test'].filter((name) =>
  TOP.includes(name),
);

/** Documents of the repository, without those of programs that a test unpacks. */
const DOCUMENTS = [
  ...TOP.filter((name) => name.endsWith('.md')).map((path) => ({ path, text: readText(path) })),
  ...FOLDERS.flatMap((folder) => filesBelow(folder, '.md')),
].filter(({ path }) => !path.startsWith('test/senders/debian'));

const ANCHORS = new Map(DOCUMENTS.map(({ path, text }) => [path, anchorsOf(text)]));

test('every link of a document leads to a file, and to a heading if it names one', () => {
  const links = DOCUMENTS.flatMap(({ path, text }) =>
    linksOf(text).map((link) => ({ from: path, link })),
  );
  ok(links.length > 0, 'there are links to follow');
  deepEqual(
    links.filter(({ from, link }) => !leadsSomewhere(link, from)),
    [],
  );
});

test('every path between backticks in a document exists', () => {
  const named = DOCUMENTS.flatMap(({ path, text }) =>
    codeOf(text)
      .filter((code) => /^(?:bench|docs|engine|ingest|src|test)\/[\w./-]*$/.test(code))
      .map((code) => ({ from: path, code })),
  );
  ok(named.length > 0, 'there are paths to look for');
  deepEqual(
    named.filter(({ code }) => !hasPath(code)),
    [],
  );
});

test('every document that a comment names exists, beside it or from the top', () => {
  const comment = /^\s*(?:\/\*\*|\*|\/\/) .*/gm;
  const named = FOLDERS.flatMap((folder) => filesBelow(folder, '.ts')).flatMap(({ path, text }) =>
    Array.from(text.matchAll(comment), ([line]) => line)
      .flatMap((line) => line.match(/(?<![:\w./-])[\w./-]+\.md\b(?:#[\w-]+)?/g) ?? [])
      .map((link) => ({ from: path, link })),
  );
  deepEqual(
    named.filter(({ from, link }) => !leadsSomewhere(link, from) && !leadsSomewhere(link, '')),
    [],
  );
});

test('the check finds a link to no file, to no heading, or out of the repository', () => {
  const from = 'bench/RESULTS.md';
  const good = ['../README.md', '/README.md', 'peers', '#results', '../README.md#see-it'];
  const bad = ['README.md', '../../README.md', '#no', '../README.md#no', 'stop.ts#no'];
  deepEqual(
    [...good, 'stop.ts#L3'].filter((link) => !leadsSomewhere(link, from)),
    [],
  );
  deepEqual(
    bad.filter((link) => leadsSomewhere(link, from)),
    [],
  );
});

test('links in code and to other machines are ignored', () => {
  const text = [
    'A [file](a.md), [its\nheading](<a.md#b>), `[code](c)`, ![image](d.png "Title").',
    '```md',
    '[block](e.md)',
    '```',
    '[far](https://example.com/f), <a href="g.md">html</a>, `code`, [there]',
    '',
    '[there]: h.md',
  ].join('\n');
  deepEqual(linksOf(text), ['a.md', 'a.md#b', 'd.png', 'g.md', 'h.md']);
  deepEqual(codeOf(text), ['[code](c)', 'code']);
});

test('headings have the anchors that GitHub gives them', () => {
  const text = [
    '# The caller’s own SQL',
    '## `GET /x`: [why](y.md), and _how_ ##',
    '# Twice',
    '```sh',
    '# no heading',
    '```',
    '# Twice',
    '<a id="Own"></a>',
  ].join('\n');
  const anchors = ['the-callers-own-sql', 'get-x-why-and-how', 'twice', 'twice-1', 'Own'];
  deepEqual([...anchorsOf(text)], anchors);
});

/** Whether a link finds something from the file it stands in, a path from the top. */
function leadsSomewhere(link: string, from: string): boolean {
  const [target, anchor] = decodeURI(link).split('#', 2) as [string, string?];
  const folder = target.startsWith('/') ? '' : posix.dirname(from);
  const path = target === '' ? from : posix.join(folder, `./${target}`);
  if (path.startsWith('../') || !hasPath(path)) return false;
  if (anchor === undefined) return true;
  // GitHub numbers the lines of what is no document.
  return ANCHORS.get(path)?.has(anchor) ?? /^L\d+(?:-L\d+)?$/.test(anchor);
}
