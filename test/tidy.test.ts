import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_TABLE } from '../src/errors.ts';
import { filesBelow, readText, type SourceFile, topOfRepository } from './support/source-files.ts';

const LINES_MAX = 600;
const FUNCTION_LINES_MAX = 70;

const TOP = new Set([
  ...['engine', 'ingest', 'src', 'bench', 'test', 'docs', '.ci'],
  ...[
    'README.md',
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'LICENSE',
    '.editorconfig',
    '.gitignore',
    'biome.json',
  ],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'],
  ...['Dockerfile', '.dockerignore'],
]);

const PAGE = filesBelow('src/console/page', '.tsx');
const PRODUCT = [
  ...['engine', 'ingest', 'src', 'bench'].flatMap((folder) => filesBelow(folder, '.ts')),
  ...PAGE,
];
const TESTS = filesBelow('test', '.ts');
const QUERIES = filesBelow('src/endpoints', '.sql');
const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'bench/RESULTS.md',
  'package.json',
  'package-lock.json',
  'biome.json',
  ...filesBelow('docs', '.md').map(({ path }) => path),
];
const FILES = [...PRODUCT, ...TESTS, ...QUERIES];

/**
 * V8 puts functions that stand where they are assigned to a property, and getters of object literals, where only a
 * full collection takes them away, with all that they can see: of one made in each call that is all of the call.
 */
test('no function is assigned to a property, and no object literal has a getter', () => {
  const assigned =
    /\.#?\w+ (?:\?\?)?= (?:async )?(?:\([^()]*\)|\w+)(?:: [^=]+)? =>|^ {4,}get \w+\(\)/;
  const places = PRODUCT.filter(({ path }) => !path.startsWith('bench/')).flatMap(
    ({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, index) => (assigned.test(line) ? [`${path}:${index + 1}`] : [])),
  );
  deepEqual(places, []);
  ok(assigned.test('    this.#floor = () => {'));
  ok(assigned.test('      get digest() {'));
});

test('file names are lower-case words with hyphens between them', () => {
  const name =
    /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*(?:(?:\.long)?\.test)?\.tsx?$/;
  deepEqual(
    [...PRODUCT, ...TESTS].map(({ path }) => path).filter((path) => !name.test(path)),
    [],
  );
});

test(`no file has more than ${LINES_MAX} lines`, () => {
  const long = FILES.filter(({ text }) => text.split('\n').length - 1 > LINES_MAX);
  deepEqual(
    long.map(({ path }) => path),
    [],
  );
});

test(`no function has more than ${FUNCTION_LINES_MAX} lines`, () => {
  const long = PRODUCT.flatMap((file) =>
    functionsOf(file).filter(({ lineCount }) => lineCount > FUNCTION_LINES_MAX),
  );
  deepEqual(
    long.map(({ place, lineCount }) => `${place}: ${lineCount}`),
    [],
  );
});

test('the check finds functions and measures them from the first line to the last', () => {
  const text = ['export function one(', '  a: number,', '): void {', '  a();', '}', ''].join('\n');
  const method = [
    'class A {',
    '  async two(): Promise<void> {',
    '    if (b) {',
    '    }',
    '  }',
    '}',
  ];
  deepEqual(functionsOf({ path: 'a.ts', text }), [{ place: 'a.ts:1', lineCount: 5 }]);
  deepEqual(functionsOf({ path: 'b.ts', text: method.join('\n') }), [
    { place: 'b.ts:2', lineCount: 4 },
  ]);
});

/**
 * Functions and methods with a body of their own, read by the indentation that the formatter gives:
 * a body ends at the first line with a brace as deep as the line it began in.
 */
function functionsOf({ path, text }: SourceFile): { place: string; lineCount: number }[] {
  const lines = text.split('\n');
  const found: { place: string; lineCount: number }[] = [];
  for (const [index, line] of lines.entries()) {
    if (!/(?:\)(?:: .*)?|=>) \{$/.test(line)) continue;
    const indent = /^\s*/.exec(line)![0];
    let start = index;
    // A list of parameters that takes lines of its own ends with a parenthesis as deep as its start.
    if (line.startsWith(`${indent})`)) {
      do start--;
      while (/^\s/.test(lines[start]!.slice(indent.length)));
    }
    if (/^\s*(?:\} )?(?:if|for|while|switch|catch|else)\b/.test(lines[start]!)) continue;
    let end = index + 1;
    while (!lines[end]!.startsWith(`${indent}}`)) end++;
    found.push({ place: `${path}:${start + 1}`, lineCount: end - start + 1 });
  }
  return found;
}

test('nothing of the page is ever read as HTML or run as a text', () => {
  const reading =
    /\b(?:innerHTML|outerHTML|dangerouslySetInnerHTML|insertAdjacentHTML|srcdoc|DOMParser|setHTMLUnsafe|createContextualFragment|document\.write|eval)\b|new Function\b/;
  const files = [...PAGE, ...filesBelow('src/console/page', '.ts')];
  ok(files.length > 20, 'there are files to look at');
  deepEqual(
    files.filter(({ text }) => reading.test(text)).map(({ path }) => path),
    [],
  );
});

test('no file contains a path of the machine it was written on', () => {
  // Spelled apart, so that this file does not name them itself.
  const places = ['work', 'root', 'home', 'tmp', 'Users'].map((name) => `/${name}/`);
  const pages = PAGES.map((path) => ({ path, text: readText(path) }));
  const found = [...FILES, ...pages].flatMap(({ path, text }) =>
    places
      .filter((place) => new RegExp(`(?<![\\w.])${place}`).test(text))
      .map((place) => `${path} names ${place}`),
  );
  deepEqual(found, []);
});

test('package-lock.json names no server that packages came from', () => {
  ok(!readText('package-lock.json').includes('"resolved"'));
});

test('packages have exact versions', () => {
  const manifest = JSON.parse(readText('package.json')) as Readonly<
    Record<string, Readonly<Record<string, string>>>
  >;
  const versions = { ...manifest['dependencies'], ...manifest['devDependencies'] };
  deepEqual(
    Object.entries(versions).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version)),
    [],
  );
});

test('docs/http-api.md has every error code with its status, and no others', () => {
  const [, table] =
    /^\| code \| status \|.*\n\|[-| ]+\|\n((?:\|.*\n)+)/m.exec(readText('docs/http-api.md')) ?? [];
  ok(table !== undefined, 'the page has a table that begins | code | status |');
  const inPage = Array.from(table.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm), ([, code, status]) => [
    code,
    Number(status),
  ]);
  const inTable = Array.from(ERROR_TABLE, ([code, { status }]) => [code, status]);
  deepEqual(inPage.sort(), inTable.sort());
});

test('every test file ends in .test.ts, so that it runs', () => {
  const unnamed = TESTS.filter(
    ({ path, text }) => !path.endsWith('.test.ts') && /^(?:test|suite|describe|it)\(/m.test(text),
  );
  deepEqual(
    unnamed.map(({ path }) => path),
    [],
  );
});

test('no test is skipped or runs alone', () => {
  const found = TESTS.filter(({ text }) =>
    /\b(?:test|suite|it|describe)\.(?:only|skip|todo)\(/.test(text),
  );
  deepEqual(
    found.map(({ path }) => path),
    [],
  );
});

test('the top of the repository has only the listed entries', () => {
  const ignored = readText('.gitignore')
    .split('\n')
    .map((line) => line.replace(/\/$/, ''));
  const names = topOfRepository().filter((name) => name !== '.git' && !ignored.includes(name));
  deepEqual(
    names.filter((name) => !TOP.has(name)),
    [],
  );
});
