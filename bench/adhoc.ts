/**
 * How long do questions take that nobody asked before? Twelve families of callers' own SQL over two million lean edge
 * events, over HTTP, beside DuckDB and ClickHouse with the same rows: on a store just filled, and on one at rest.
 *
 *   npm run bench:adhoc                          two million events
 *   npm run bench:adhoc -- --size medium         300,000; small and tiny: as the tests run it
 *   npm run bench:adhoc -- --only 1,3,12         some of the families
 *   npm run bench:adhoc -- --seed 7              other variants; the seed of a run is printed
 *   npm run bench:adhoc -- --beside PATH         by turns with the build of another checkout
 *
 * Each family has five variants that the process was not asked before: the first call of each counts, and the same call
 * again at once is shown. One variant more of each family warms an engine up; weir while its last events come in.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { showProgress } from '../src/command/progress.ts';
import { CLICKHOUSE, DUCKDB, WEIR } from './adhoc/dialects.ts';
import { drawFamilies, FAMILIES, type Family, type FamilyVariants } from './adhoc/families.ts';
import { type AskedSubject, differencesOf, hashesOf, tableOf } from './adhoc/report.ts';
import { type Build, buildsInTurn } from './builds.ts';
import { BytesClient } from './bytes-client.ts';
import { type AskText, askTwice, type TextTimes } from './large/asked-texts.ts';
import { PeerStages } from './large/peer-stages.ts';
import { LargeProjects } from './large/projects.ts';
import type { LargeSize } from './large/sizes.ts';
import { LargeStore, REST_SECONDS_MAX } from './large/store.ts';
import { environmentLine, hashOf } from './measure.ts';
import type { CellValue } from './peers/question.ts';
import type { ServiceProcess } from './service-process.ts';
import { readSizeOptions } from './size-options.ts';

const SEED_DEFAULT = '1';

const SIZES: ReadonlyMap<string, LargeSize> = new Map([
  ['tiny', sizeOf(2_000)],
  ['small', sizeOf(20_000)],
  ['medium', sizeOf(300_000)],
  ['large', sizeOf(2_000_000)],
]);

const PEERS = [
  { name: 'duckdb', dialect: DUCKDB },
  { name: 'clickhouse', dialect: CLICKHOUSE },
] as const;

/** Of queries that took too much memory or time, or waited too long. */
const GIVEN_UP: ReadonlySet<number> = new Set([422, 503, 504]);

function sizeOf(lean: number): LargeSize {
  const MEMORY_BYTES = 4 * 2 ** 30;
  const eventCounts = new Map([['lean', lean] as const]);
  const others = { callCount: 0, warmUpMs: 0, repeatCount: 0, idleMs: 0 };
  return { eventCounts, memoryBytes: MEMORY_BYTES, ...others };
}

async function main(): Promise<void> {
  const { size, command, own } = readSizeOptions(SIZES, ['seed', 'only', 'beside']);
  const seed = Number(own['seed'] ?? SEED_DEFAULT);
  const families = drawFamilies(chosenOf(own['only']), seed);
  const builds = buildsInTurn(command, own['beside']);
  console.log(`${environmentLine()}, seed ${seed}`);
  const [first, ...others] = builds;
  const subjects: AskedSubject[] = [...(await measureWeir(first!, size, families))];
  for (const { name, dialect } of PEERS) {
    const subject = await measurePeer(name, size, textsOf(families, dialect));
    if (typeof subject === 'string') console.log(`${name} is left out: ${subject}`);
    else subjects.push(subject);
  }
  for (const build of others) subjects.push(...(await measureWeir(build, size, families)));
  mustAgree(families, subjects);
  console.log(`\n${tableOf(families, subjects)}`);
  console.log(`result hash ${hashOf(hashesOf(families, subjects).join())}`);
}

/** Families by the numbers that their names begin with, between commas. */
function chosenOf(only: string | undefined): readonly Family[] {
  if (only === undefined) return FAMILIES;
  return only.split(',').map((number) => {
    const family = FAMILIES.find(({ name }) => name.startsWith(`${number} `));
    if (family === undefined) throw new Error(`there is no family ${number}`);
    return family;
  });
}

function textsOf(
  families: readonly FamilyVariants[],
  dialect: typeof WEIR,
): { readonly warmUp: readonly string[]; readonly asked: readonly string[] } {
  return {
    warmUp: families.map(({ warmUp }) => warmUp(dialect)),
    asked: families.flatMap(({ asked }) => asked.map((variant) => variant(dialect))),
  };
}

/** A store just filled, and the same at rest: each asked in a process of its own. */
async function measureWeir(
  { name, command, root }: Build,
  size: LargeSize,
  families: readonly FamilyVariants[],
): Promise<readonly AskedSubject[]> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-adhoc-'));
  const store = new LargeStore({ folder, size, projects: new LargeProjects(0), command, root });
  const texts = textsOf(families, WEIR);
  try {
    const filled = await store.fill((service) => warmUp(service, texts.warmUp));
    const times = await askService(filled, texts.asked).finally(() => filled.stop());
    await store.passDay();
    const rested = await store.start();
    try {
      await warmUp(rested, texts.warmUp);
      await rested.atRest(REST_SECONDS_MAX);
      return [
        { name: `${name}, just filled`, times },
        { name: `${name}, at rest`, times: await askService(rested, texts.asked) },
      ];
    } finally {
      await rested.stop();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function warmUp(service: ServiceProcess, texts: readonly string[]): Promise<void> {
  const { ask, close } = askerOf(service);
  for (const text of texts) await ask(text);
  close();
}

async function askService(
  service: ServiceProcess,
  texts: readonly string[],
): Promise<readonly TextTimes[]> {
  const { ask, close } = askerOf(service);
  const times: TextTimes[] = [];
  for (const [index, text] of texts.entries()) {
    showProgress(`weir: ${index} of ${texts.length}`);
    times.push(await askTwice(ask, text));
  }
  showProgress('');
  close();
  return times;
}

/** Asks over one connection that is kept. */
function askerOf({ url, token }: ServiceProcess): {
  readonly ask: AskText;
  readonly close: () => void;
} {
  let client: BytesClient | undefined;
  const ask: AskText = async (sql) => {
    if (client === undefined || !client.isOpen) client = await BytesClient.connect(url, token);
    const post = client.postFor('/api/query', Buffer.from(JSON.stringify({ sql })));
    const { status, body } = await client.send(post);
    if (GIVEN_UP.has(status)) return undefined;
    if (status !== 200) throw new Error(`${sql}: ${status} ${body}`);
    return () => {
      const { result } = JSON.parse(body.toString()) as {
        readonly result: readonly Readonly<Record<string, CellValue>>[];
      };
      return result.map((row) => Object.values(row));
    };
  };
  return { ask, close: () => client?.close() };
}

/** What a peer took; the sentence why not where it is not installed. */
async function measurePeer(
  name: (typeof PEERS)[number]['name'],
  size: LargeSize,
  texts: ReturnType<typeof textsOf>,
): Promise<AskedSubject | string> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-adhoc-'));
  const stages = new PeerStages(name, { folder, size });
  try {
    const hindrance = await stages.hindrance();
    if (hindrance !== undefined) return hindrance;
    await stages.load();
    const { version, times } = await stages.askTexts(texts);
    console.log(`${name} ${version} was asked`);
    return { name, times };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @throws Error with every text that two engines answer differently. */
function mustAgree(families: readonly FamilyVariants[], subjects: readonly AskedSubject[]): void {
  const differences = differencesOf(textsOf(families, WEIR).asked, subjects);
  if (differences.length > 0) throw new Error(`answers differ:\n${differences.join('\n')}`);
}

await main();
