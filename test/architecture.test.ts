import { deepEqual, equal, ok } from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { COMMANDS } from '../src/command/command-table.ts';
import { defaultCacheBytes, defaultMemoBytes, divideMemory } from '../src/memory-shares.ts';
import { codeOf } from './support/markdown.ts';
import {
  filesBelow,
  hasPath,
  importsOf,
  readText,
  type SourceFile,
} from './support/source-files.ts';

const MEBIBYTE = 1024 * 1024;
const LINES_MAX = 300;
const BYTES_MAX = 25_000;
const GLOSSARY_LINES_MAX = 40;
/** Files that a word of the glossary is in, at least: a word that one file has is explained there. */
const WORD_FILES_MIN = 3;

const PAGE = readText('ARCHITECTURE.md');
const PRODUCT = ['engine', 'ingest', 'src'].flatMap((folder) => filesBelow(folder, '.ts'));
const PACKAGE = JSON.parse(readText('package.json')) as Readonly<
  Record<string, Readonly<Record<string, string>>>
>;

/** Files of one kind, all of which the lists must import, directly or through files beside them. */
type Listing = {
  readonly isListed: (file: SourceFile) => boolean;
  readonly lists: readonly string[];
};

/** By the first column of the table "To add …". */
const LISTINGS: Readonly<Record<string, Listing>> = {
  'a scalar function': {
    isListed: ({ path }) => /^engine\/function\/.*-functions?\.ts$/.test(path),
    lists: ['engine/function/registry.ts'],
  },
  'an aggregate function': {
    isListed: exports('engine/aggregate/', /^export const \w+: (?:readonly )?AggregateFunction\b/m),
    lists: ['engine/aggregate/registry.ts'],
  },
  'an operator': {
    isListed: ({ path }) => path.startsWith('engine/operator/'),
    lists: ['engine/plan/execute.ts'],
  },
  'an optimizer rule': {
    isListed: ({ path }) => path.startsWith('engine/plan/optimize/'),
    lists: ['engine/plan/optimize/optimize.ts', 'engine/plan/plan-cache.ts'],
  },
  'a log format': {
    isListed: exports('ingest/wire/', /^export const \w+: WireFormat\b/m),
    lists: ['ingest/wire/wire-formats.ts'],
  },
  'a receiver': {
    isListed: ({ path }) => /^src\/doors\/.*-doors?\.ts$/.test(path),
    lists: ['src/doors/doors.ts'],
  },
  'a route': {
    isListed: ({ path }) => /^src\/http\/.*-route\.ts$/.test(path),
    lists: ['src/http/routes.ts'],
  },
  'a command': {
    isListed: ({ path }) => /^src\/command\/.*-command\.ts$/.test(path),
    lists: ['src/command/command-table.ts'],
  },
  'a metric': {
    isListed: ({ path }) => path.startsWith('src/metrics/') && path !== 'src/metrics/metrics.ts',
    lists: ['src/metrics/metrics.ts'],
  },
};

test(`the page has at most ${LINES_MAX} lines and ${BYTES_MAX} bytes`, () => {
  ok(PAGE.split('\n').length - 1 <= LINES_MAX);
  ok(Buffer.byteLength(PAGE) <= BYTES_MAX);
});

test('every file and folder that the page names exists', () => {
  const paths = codeOf(PAGE).filter((code) =>
    /^\w[\w.-]*(?:\/[\w.-]+)+$|^\w[\w-]*\.ts$/.test(code),
  );
  ok(paths.length > 100, 'the page names files');
  deepEqual(
    paths.filter((path) => !hasPath(path)),
    [],
  );
});

test('the page has every folder of the product, to the second level', () => {
  const named = new Set(rowsOf('Layers and folders').flatMap(([folders]) => codeOf(folders!)));
  const folders = new Set(
    [...PRODUCT, ...filesBelow('src', '.sql')].map(({ path }) => folderOf(path)),
  );
  deepEqual([...named].sort(), [...folders].sort());
});

test('every identifier on the page is in the code', () => {
  const texts = PRODUCT.map(({ text }) => text).join('\n');
  const names = codeOf(PAGE).filter((code) => /^\w+$/.test(code));
  ok(names.length > 20, 'the page has names');
  deepEqual(
    names.filter((name) => !hasWord(texts, name) && !hasPath(name) && !isPackage(name)),
    [],
  );
});

test('every command on the page exists', () => {
  const commands = codeOf(PAGE).filter((code) => /^(?:npm|weir) /.test(code));
  ok(commands.length > 5, 'the page names commands');
  const isThere = (command: string): boolean => {
    const [program, ...words] = command.split(' ');
    if (program === 'weir') return COMMANDS.some(({ name }) => name === words[0]);
    return (words[0] === 'run' ? words[1]! : words[0]!) in PACKAGE['scripts']!;
  };
  deepEqual(
    commands.filter((command) => !isThere(command)),
    [],
  );
});

test('every word of the glossary occurs in the code', () => {
  const rows = rowsOf('Glossary');
  ok(rows.length <= GLOSSARY_LINES_MAX);
  const words = rows.flatMap(([word, meaning]) => [
    word!,
    ...Array.from(meaning!.matchAll(/\*([\w ]+)\*/g), ([, other]) => other!),
  ]);
  equal(new Set(words).size, words.length, 'a word has one meaning');
  const isUsed = (word: string): boolean =>
    PRODUCT.filter(({ text }) => hasWord(text, word)).length >= WORD_FILES_MIN;
  deepEqual(
    words.filter((word) => !isUsed(word)),
    [],
  );
});

test('the table of memory has the shares of each limit', () => {
  const limits = [256, 1024, 4096].map((mebibytes) => mebibytes * MEBIBYTE);
  const divided = limits.map((memoryBytesMax) => {
    const { shares } = divideMemory({
      ...{ memoryBytesMax, workerCount: 2 },
      cacheBytesMax: defaultCacheBytes(memoryBytesMax),
      memoBytesMax: defaultMemoBytes(memoryBytesMax),
    });
    return Object.entries(shares).map(([name, bytes]) => [name, Math.round(bytes / MEBIBYTE)]);
  });
  const rows = rowsOf('Memory');
  for (const [index, shares] of divided.entries()) {
    const told = rows.map((cells) => [codeOf(cells[0]!)[0], Number(cells[2 + index])]);
    deepEqual(told.sort(), shares.sort());
  }
});

test('laws are numbered from 1, and tests name no others', () => {
  const numbers = rowsOf('Invariants').map(([law]) => Number.parseInt(law!, 10));
  deepEqual(
    numbers,
    numbers.map((_number, index) => index + 1),
  );
  const named = filesBelow('test', '.test.ts').flatMap(({ text }) =>
    Array.from(text.matchAll(/^ *test\(['`]law (\d+)/gm), ([, number]) => Number(number)),
  );
  ok(named.length > 10, 'tests name laws');
  deepEqual(
    named.filter((number) => !numbers.includes(number)),
    [],
  );
});

for (const [what, listing] of Object.entries(LISTINGS)) {
  test(`to add ${what}: the page names the list, and the list has every file of its kind`, () => {
    const row = rowsOf('To add …').find(([first]) => first === what);
    deepEqual(codeOf(row?.[2] ?? ''), listing.lists);
    const files = PRODUCT.filter(listing.isListed).map(({ path }) => path);
    ok(files.length > 1, 'there are files of the kind');
    const imported = importedFrom(listing);
    deepEqual(
      files.filter((path) => !imported.has(path)),
      [],
    );
  });
}

test('to add a benchmark: package.json names every one', () => {
  const benchmarks = filesBelow('bench', '.ts').filter(
    ({ path, text }) => posix.dirname(path) === 'bench' && !/^export /m.test(text),
  );
  ok(benchmarks.length > 10, 'there are benchmarks');
  const manifest = readText('package.json');
  deepEqual(
    benchmarks
      .map(({ path }) => posix.basename(path, '.ts'))
      .filter((name) => !hasWord(manifest, name)),
    [],
  );
});

test('to add an entry of a table, or a file that is found in its folder: the page says where', () => {
  const rows = rowsOf('To add …').filter(([what]) => LISTINGS[what!] === undefined);
  const expected = [
    ['a setting', ['src/setting-table.ts']],
    ['an error code', ['src/errors.ts']],
    ['a kind of task', ['engine/pool/worker.ts']],
    ['a built-in query', []],
    ['a benchmark', ['package.json']],
  ];
  deepEqual(
    rows.map(([what, , list]) => [what, codeOf(list!)]),
    expected,
  );
});

test('the page has every package that the product depends on, and no others', () => {
  const named = rowsOf('Dependencies').flatMap(([name]) => codeOf(name!));
  deepEqual(named.sort(), Object.keys(PACKAGE['dependencies']!).sort());
});

/** The rows of the first table below a heading, each as its cells. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? [];
  const [, , ...rows] = table.trimEnd().split('\n');
  ok(rows.length > 0, `there is a table below ${heading}`);
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

function exports(folder: string, constant: RegExp): Listing['isListed'] {
  return ({ path, text }) => path.startsWith(folder) && constant.test(text);
}

/** What the lists import, directly or through other files of their folder and of the folder of the kind. */
function importedFrom({ isListed, lists }: Listing): ReadonlySet<string> {
  const files = new Map(PRODUCT.map((file) => [file.path, file]));
  const kind = PRODUCT.filter(isListed).map(({ path }) => path);
  const folders = new Set([...lists, ...kind].map(folderOf));
  const found = new Set(lists);
  for (const path of found) {
    const file = files.get(path);
    if (file === undefined || !folders.has(folderOf(path))) continue;
    for (const imported of importsOf(file)) found.add(imported);
  }
  return found;
}

/** `engine/plan` of a file in it, or in a folder of it. */
function folderOf(path: string): string {
  return posix.dirname(path).split('/').slice(0, 2).join('/');
}

/** Whether a text has a word, in any case, or its plural. */
function hasWord(text: string, word: string): boolean {
  return new RegExp(`(?<![\\w])${word}s?(?![\\w])`, 'i').test(text);
}

function isPackage(name: string): boolean {
  return name in PACKAGE['dependencies']!;
}
