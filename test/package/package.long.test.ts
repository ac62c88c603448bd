import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { packageRoot } from '../../src/package-root.ts';
import { filesBelow, readText } from '../support/source-files.ts';
import { LoopbackRegistry } from './loopback-registry.ts';
import { hasNpm, NpmProcess, type NpmWorld } from './npm-process.ts';

/** What the package is made of. */
const MADE_OF = ['engine', 'ingest', 'src'];

/** Files that make a checkout, and of tests and benchmarks one each, which must stay behind. */
const CHECKOUT = [
  ...MADE_OF,
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', '.gitignore'],
  ...['README.md', 'ARCHITECTURE.md', 'LICENSE', 'Dockerfile'],
  ...['test/tidy.test.ts', 'bench/cached.ts'],
];

/** Twice what the archive has today: something that does not belong there has come in. */
const ARCHIVE_BYTES_MAX = 2 * 2 ** 20;

const TOKENS = { PUBLIC_ACCESS_TOKEN: 'for-posts', PRIVATE_ACCESS_TOKEN: 'for-everything' };

suite('the package', { skip: hasNpm() ? false : 'npm is not there' }, () => {
  let folder: string;
  let registry: LoopbackRegistry;
  let world: NpmWorld;
  let archive: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-package-'));
    registry = await LoopbackRegistry.start();
    world = { home: join(folder, 'home'), registryUrl: registry.url };
    await mkdir(world.home);
    archive = await pack(folder, world);
  });

  after(async () => {
    await registry.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('npm pack makes a small archive', async () => {
    const { size } = await stat(archive);
    assert.ok(size < ARCHIVE_BYTES_MAX, `${size} bytes`);
  });

  test('docs/cli.md names the archive as npm does', () => {
    assert.ok(readText('docs/cli.md').includes(`\`npx ./${basename(archive)} COMMAND\``));
  });

  test('npx runs the service from the archive in an empty folder, and SIGTERM ends it', async () => {
    const dataDir = join(folder, 'data');
    const settings = { PORT: '0', DATA_DIR: dataDir, WORKERS: '1', ...TOKENS };
    const weir = await runArchive('start', settings);
    try {
      const [, url] = await weir.printed(/"url":"(http:[^"]+)"/);
      assert.equal((await fetch(`${url}/health`)).status, 200);
      const posted = await fetch(`${url}/api/logs?source_name=postgres.logs`, {
        method: 'POST',
        headers: { 'X-API-KEY': TOKENS.PUBLIC_ACCESS_TOKEN, 'Content-Type': 'application/json' },
        body: JSON.stringify({ event_message: 'hello', project: 'alpha' }),
      });
      assert.deepEqual([posted.status, await posted.json()], [200, { message: 'Logged!' }]);
      await endService(weir, dataDir);
    } finally {
      weir.kill();
    }
  });

  test('npx runs the demo from the archive, and leaves nothing in the folder', async () => {
    const demo = await runArchive('demo');
    try {
      const [, dataDir] = await demo.printed(/ with its data in (\S+)\n.*usage\.api-counts/s);
      await endService(demo, must(dataDir));
    } finally {
      demo.kill();
    }
    assert.deepEqual(await readdir(join(folder, 'demo')), []);
  });

  test('the installed package is the compiled program with its queries, and nothing else', async () => {
    const folders = await readdir(join(world.home, 'cache', '_npx'));
    assert.equal(folders.length, 1);
    const installed = join(world.home, 'cache', '_npx', folders[0]!, 'node_modules', 'weir');
    const files = await filesOf(installed);
    const [page, others] = [true, false].map((isPage) =>
      files.filter((path) => path.startsWith('dist/console/') === isPage),
    );
    assert.deepEqual(others, wantedFiles());
    const names = page!.map((path) => basename(path).replace(/-[A-Z0-9]{8}\./, '.'));
    for (const name of ['index.html', 'main.js', 'main.js.br', 'page.css.gz']) {
      assert.ok(names.includes(name), `${name} is in ${names}`);
    }
  });

  /** `npx ARCHIVE COMMAND` in an empty folder that has the name of the command. */
  async function runArchive(
    command: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<NpmProcess> {
    const empty = join(folder, command);
    await mkdir(empty);
    // An absolute path would be that of a program to npx.
    const path = relative(empty, archive);
    return NpmProcess.start(['npx', '--yes', path, command], empty, world, settings);
  }
});

/** Packs a copy of the checkout: what others build in its `dist` meanwhile does not get in. */
async function pack(folder: string, world: NpmWorld): Promise<string> {
  const root = packageRoot();
  const copy = join(folder, 'checkout');
  for (const path of CHECKOUT) await cp(join(root, path), join(copy, path), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir');
  await NpmProcess.run(['npm', 'pack', '--pack-destination', folder], copy, world);
  const archives = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  assert.equal(archives.length, 1);
  return join(folder, archives[0]!);
}

/** What an installation should have: nothing else is needed, so nothing else is there. */
function wantedFiles(): string[] {
  const programs = MADE_OF.flatMap((folder) => filesBelow(folder, '.ts')).filter(
    ({ path }) => !path.startsWith('src/console/page/') && path !== 'src/console/build-page.ts',
  );
  const queries = filesBelow('src/endpoints', '.sql');
  return [
    ...['LICENSE', 'README.md', 'package.json'],
    ...programs.map(({ path }) => `dist/${path.replace(/ts$/, 'js')}`),
    ...queries.map(({ path }) => path),
  ].sort();
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/**
 * Ends a service as a supervisor does; it must end well, and whoever has started it, too. The signal goes to the
 * process that has the data folder: npx gives it to a shell, which ends and leaves the service behind.
 */
async function endService(npx: NpmProcess, dataDir: string): Promise<void> {
  const { pid } = JSON.parse(await readFile(join(dataDir, 'lock'), 'utf8')) as { pid: number };
  process.kill(pid, 'SIGTERM');
  assert.equal(await npx.ended(), 0, npx.said);
  assert.equal(npx.isAlive, false, 'a process is left');
}
