import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type Metafile, type Plugin } from 'esbuild';
import { assert, must } from '../../engine/columns.ts';
import { functionNames } from '../../engine/index.ts';
import { packageRoot } from '../package-root.ts';

/**
 * Builds the page of the console into the folder `console` below the folder that is given: files whose names have a
 * hash of their contents, each also as br and gzip, and the `index.html` that loads them.
 *
 *   node --import tsx src/console/build-page.ts dist
 */

/** What a browser loads before it shows the first rows, and all that there is, compressed. */
const FIRST_BYTES_MAX = 70 * 1024;
const ALL_BYTES_MAX = 260 * 1024;

const PAGE = 'src/console/page';
const MAIN = `${PAGE}/main.tsx`;
const STYLE = `${PAGE}/style/page.css`;

/** What is loaded before the first rows: the shell and the first view, with all that they import. */
const FIRST_ENTRIES = [MAIN, STYLE, 'src/console/page/views/explore/explore-view.tsx'];

/**
 * What uPlot makes of `Intl` when it is loaded: the first use of `Intl` is a long task, and the page uses none of these.
 * It formats numbers itself, and its times are in UTC.
 */
const CHART_TEXTS = [
  ["new Intl.NumberFormat(domEnv ? nav.language : 'en-US')", '{ format: String }'],
  ['new Intl.DateTimeFormat().resolvedOptions().timeZone', 'undefined'],
] as const;

const chartsWithoutIntl: Plugin = {
  name: 'charts without Intl',
  setup: ({ onLoad }) =>
    onLoad({ filter: /uPlot\.esm\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, 'utf8');
      for (const [text, shorter] of CHART_TEXTS) {
        assert(contents.includes(text), `uPlot has ${text}`);
        contents = contents.replace(text, shorter);
      }
      return { contents };
    }),
};

const root = packageRoot();
const [target = 'dist'] = process.argv.slice(2);
const folder = join(root, target, 'console');

const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: [MAIN, STYLE],
  outdir: folder,
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  metafile: true,
  write: false,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  legalComments: 'none',
  define: { SQL_FUNCTIONS: JSON.stringify([...new Set(functionNames())].sort()) },
  logLevel: 'warning',
  plugins: [chartsWithoutIntl],
});

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const sizes = new Map<string, number>();
for (const { path, contents } of outputFiles) {
  const brotli = compress(contents);
  sizes.set(basename(path), brotli.length);
  writeFileSync(path, contents);
  writeFileSync(`${path}.br`, brotli);
  writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }));
}
const template = await readFile(join(root, PAGE, 'index.html'), 'utf8');
const index = Buffer.from(fillTemplate(template, metafile));
writeFileSync(join(folder, 'index.html'), index);
checkSizes();

function compress(bytes: Uint8Array): Buffer {
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}

/** Names the built files: the style, the program, and what the program imports at once. */
function fillTemplate(text: string, { outputs }: Metafile): string {
  const [main] = findOutput(MAIN, outputs);
  const [style] = findOutput(STYLE, outputs);
  const imported = staticImports(main, outputs).filter((path) => path !== main);
  const preloads = imported.map((path) => `<link rel="modulepreload" href="${toUrl(path)}">`);
  return text
    .replace('%STYLE%', toUrl(style))
    .replace('%SCRIPT%', toUrl(main))
    .replace('%PRELOADS%', preloads.join('\n    '));
}

function toUrl(path: string): string {
  return `console/${basename(path)}`;
}

type Outputs = Metafile['outputs'];

function findOutput(entryPoint: string, outputs: Outputs): readonly [string, Outputs[string]] {
  const found = Object.entries(outputs).find(([, output]) => output.entryPoint === entryPoint);
  return must(found, `${entryPoint} is built into a file of its own`);
}

/** A built file and all that it imports before it runs. */
function staticImports(path: string, outputs: Outputs): readonly string[] {
  const found = new Set([path]);
  for (const one of found) {
    for (const { path: imported, kind } of outputs[one]?.imports ?? []) {
      if (kind === 'import-statement') found.add(imported);
    }
  }
  return [...found];
}

function checkSizes(): void {
  const { outputs } = metafile;
  const first = new Set<string>();
  for (const entry of FIRST_ENTRIES) {
    const [path] = findOutput(entry, outputs);
    for (const one of staticImports(path, outputs)) first.add(basename(one));
  }
  const allBytes = sum(sizes.keys());
  const firstBytes = sum(first);
  const summary = `${firstBytes} bytes before the first rows, of ${FIRST_BYTES_MAX}; ${allBytes} in all, of ${ALL_BYTES_MAX}`;
  if (firstBytes > FIRST_BYTES_MAX || allBytes > ALL_BYTES_MAX) {
    throw new Error(`the page is too large: ${summary}`);
  }
}

function sum(names: Iterable<string>): number {
  let total = 0;
  for (const name of names) total += must(sizes.get(name), `${name} is built`);
  return total;
}
