import { deepEqual, ok } from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { codeOf } from './support/markdown.ts';
import {
  filesBelow,
  hasPath,
  importsOf,
  loadedBy,
  readText,
  type SourceFile,
} from './support/source-files.ts';

/** The files of the engine that are imported from outside of it. */
const FACES = ['engine/columns.ts', 'engine/index.ts'];

/** Folders of the engine, each with those it may import from, itself left out. */
const ENGINE_LAYERS: Readonly<Record<string, readonly string[]>> = {
  column: [],
  function: ['column'],
  aggregate: ['column', 'function'],
  operator: ['column', 'function', 'aggregate'],
  sql: [],
  plan: ['column', 'function', 'aggregate', 'operator', 'sql'],
  memo: ['column', 'function', 'aggregate', 'operator', 'plan'],
  pool: ['column', 'function', 'aggregate', 'operator', 'plan', 'memo'],
};

/** Files at the top of the engine that each of its layers may import. */
const ENGINE_COMMON = [
  'engine/assert.ts',
  'engine/limits.ts',
  'engine/nearest-name.ts',
  'engine/query-error.ts',
];

/** Which packages may be imported where: the folders of each. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@codemirror/autocomplete': ['src/console/page/editor/'],
  '@codemirror/commands': ['src/console/page/editor/'],
  '@codemirror/lang-sql': ['src/console/page/editor/'],
  '@codemirror/language': ['src/console/page/editor/'],
  '@codemirror/lint': ['src/console/page/editor/'],
  '@codemirror/state': ['src/console/page/editor/'],
  '@codemirror/view': ['src/console/page/editor/'],
  '@lezer/highlight': ['src/console/page/editor/'],
  '@preact/signals': ['src/console/page/'],
  '@tanstack/virtual-core': ['src/console/page/components/'],
  uplot: ['src/console/page/components/'],
  preact: ['src/console/page/'],
  'preact/hooks': ['src/console/page/'],
  esbuild: ['src/console/build-page.ts'],
  '@clickhouse/client': ['src/clickhouse/'],
  '@bufbuild/protobuf/wire': ['ingest/wire/', 'src/doors/', 'src/grpc/'],
  diff: ['src/command/', 'src/console/page/views/endpoints/'],
  express: ['src/'],
  flatbuffers: ['ingest/'],
  zod: ['src/'],
  piscina: ['engine/pool/'],
  'prom-client': ['src/'],
  re2js: ['engine/function/'],
  zstddec: ['src/http/encoding/'],
};

const ENGINE = filesBelow('engine', '.ts');
const INGEST = filesBelow('ingest', '.ts');
const SRC = [...filesBelow('src', '.ts'), ...filesBelow('src', '.tsx')];
const PRODUCT = [...ENGINE, ...INGEST, ...SRC];

/** Imports that break a rule, as `file imports what`. */
function broken(
  files: readonly SourceFile[],
  isAllowed: (imported: string, file: SourceFile) => boolean,
): readonly string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => !isAllowed(imported, file))
      .map((imported) => `${file.path} imports ${imported}`),
  );
}

function isPackage(imported: string): boolean {
  return !/^(?:engine|ingest|src|bench|test)\//.test(imported);
}

/** Runs in a browser, and not in the service. */
function isPage(path: string): boolean {
  return path.startsWith('src/console/page/');
}

function layerOf(path: string): string | undefined {
  return /^engine\/([^/]+)\//.exec(path)?.[1];
}

test('all forms of imports are found', () => {
  const text = [
    "import { a } from './a.ts';",
    "import type {\n  b,\n} from '../b.ts';",
    "import './c.ts';",
    "export { d } from 'd';",
    "const e = await import('../e.ts');",
    'const f = new URL(`./f.js`, import.meta.url);',
  ].join('\n');
  deepEqual(importsOf({ path: 'src/x/y.ts', text }), [
    'src/x/a.ts',
    'src/b.ts',
    'src/x/c.ts',
    'd',
    'src/e.ts',
    'src/x/f.js',
  ]);
  ok(ENGINE.length > 100 && INGEST.length > 10 && SRC.length > 20, 'there are files to look at');
});

test('the layers of the engine import downwards only', () => {
  deepEqual(
    broken(ENGINE, (imported, { path }) => {
      if (FACES.includes(imported)) return false;
      if (isPackage(imported) || path === 'engine/engine.ts' || FACES.includes(path)) return true;
      if (ENGINE_COMMON.includes(imported)) return true;
      const layer = layerOf(path);
      // What is not in a layer stands below them all.
      if (layer === undefined) return false;
      const below = layerOf(imported);
      return below === layer || (ENGINE_LAYERS[layer] ?? []).includes(below ?? '');
    }),
    [],
  );
});

test('every folder of the engine is a layer', () => {
  const folders = new Set(ENGINE.map(({ path }) => layerOf(path)));
  folders.delete(undefined);
  deepEqual([...folders].sort(), Object.keys(ENGINE_LAYERS).sort());
});

test('every folder of the engine has a README of 20 to 80 lines, which names files that it has', () => {
  const folders = new Set(ENGINE.map(({ path }) => posix.dirname(path)));
  for (const folder of folders) {
    const page = readText(`${folder}/README.md`);
    const lineCount = page.split('\n').length - 1;
    ok(lineCount >= 20 && lineCount <= 80, `${folder}/README.md has ${lineCount} lines`);
    const named = codeOf(page).filter((code) => /^\w[\w-]*\.ts$/.test(code));
    const missing = named.filter(
      (name) => !hasPath(`${folder}/${name}`) && !hasPath(`${posix.dirname(folder)}/${name}`),
    );
    deepEqual(missing, [], `${folder}/README.md`);
  }
});

test('the engine imports nothing from outside of it', () => {
  deepEqual(
    broken(ENGINE, (imported) => isPackage(imported) || imported.startsWith('engine/')),
    [],
  );
});

test('the engine is imported through its two faces only, by ingest through that of columns', () => {
  deepEqual(
    broken(SRC, (imported) => !imported.startsWith('engine/') || FACES.includes(imported)),
    [],
  );
  deepEqual(
    broken(
      INGEST,
      (imported) =>
        isPackage(imported) || imported.startsWith('ingest/') || imported === 'engine/columns.ts',
    ),
    [],
  );
});

test('the face of columns loads neither SQL nor plans nor threads', () => {
  const layers = new Set(loadedBy('engine/columns.ts').map(layerOf));
  deepEqual([...layers].sort(), ['column', 'function', undefined]);
});

test('a command that runs no query loads the face of columns only', () => {
  for (const path of [
    'src/main.ts',
    'src/command/query-command.ts',
    'src/command/tail-command.ts',
  ]) {
    const faces = loadedBy(path).filter((loaded) => FACES.includes(loaded));
    deepEqual(faces, ['engine/columns.ts'], path);
  }
});

test('the product imports neither tests nor benchmarks', () => {
  deepEqual(
    broken(PRODUCT, (imported) => !/^(?:bench|test)\//.test(imported)),
    [],
  );
});

test('the page of the console imports nothing of the service, and nothing imports the page', () => {
  const page = SRC.filter(({ path }) => isPage(path));
  ok(page.length > 20, 'there are files to look at');
  deepEqual(
    broken(page, (imported) => isPackage(imported) || isPage(imported)),
    [],
  );
  deepEqual(
    broken(PRODUCT, (imported, { path }) => isPage(path) || !isPage(imported)),
    [],
  );
});

test('a package is imported only where it is meant to be used', () => {
  deepEqual(
    broken(PRODUCT, (imported, { path }) => {
      if (!isPackage(imported) || imported.startsWith('node:')) return true;
      return PACKAGES[imported]?.some((folder) => path.startsWith(folder)) ?? false;
    }),
    [],
  );
});

test('only src/main.ts reads the clock, and the engine, its workers and slices measure durations only', () => {
  const clocks = /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bprocess\.hrtime\b/g;
  const allowed: Readonly<Record<string, readonly string[]>> = {
    'src/main.ts': ['Date.now', 'performance.now'],
    'engine/engine.ts': ['performance.now'],
    'engine/pool/inline-runs.ts': ['performance.now'],
    'engine/pool/query-pool.ts': ['performance.now'],
    'engine/pool/task-scheduler.ts': ['performance.now'],
    'engine/pool/worker.ts': ['performance.now'],
    'ingest/event-loop.ts': ['performance.now'],
  };
  const found = PRODUCT.filter(({ path }) => !isPage(path)).flatMap(({ path, text }) =>
    Array.from(withoutComments(text).matchAll(clocks), ([clock]) => ({ path, clock })),
  );
  deepEqual(
    found.filter(({ path, clock }) => !(allowed[path] ?? []).includes(clock)),
    [],
  );
});

test('nothing in the engine or in ingest uses random numbers or the environment', () => {
  const found = [...ENGINE, ...INGEST].filter(({ text }) =>
    /\bMath\.random\b|\bprocess\.(?:env|argv)\b/.test(withoutComments(text)),
  );
  deepEqual(
    found.map(({ path }) => path),
    [],
  );
});

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
