/**
 * How fast are weir and other engines with the same data and the same questions?
 *
 *   npm run bench:peers                        ten million lean edge events, as many invocations
 *   npm run bench:peers -- --size medium       a tenth of it
 *   npm run bench:peers -- --only weir,duckdb  some of the engines; weir-engine, weir-http-sealed, …
 *   npm run bench:peers -- --again weir        measures these again, with the data they have
 *   npm run bench:peers -- --folder PATH       keeps data and results there
 *
 * What is done is not done again when it is started anew. All engines must have the same number of events
 * and give the same answers before any time is told.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { hashOf } from '../measure.ts';
import { Tenants } from '../workload/tenants.ts';
import { askedOf } from './asked.ts';
import { differencesOf } from './comparison.ts';
import { MEASURED, type Measured } from './engine-list.ts';
import { reportOf } from './report.ts';
import type { MeasuredResult } from './result.ts';
import { sizeOf } from './size.ts';
import { Stages } from './stages.ts';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      size: { type: 'string', default: 'large' },
      folder: { type: 'string', default: join(tmpdir(), 'weir-bench-peers') },
      only: { type: 'string' },
      again: { type: 'string' },
      uncompiled: { type: 'boolean', default: false },
    },
  });
  const folder = join(values.folder, values.size);
  const stages = new Stages({
    ...{ folder, sizeName: values.size, isUncompiled: values.uncompiled },
  });
  if (values.again !== undefined) stages.forget(chosenOf(values.again));
  const results = await measureAll(stages, chosenOf(values.only));
  mustAgree(results, values.size);
  const report = reportOf(values.size, results);
  writeFileSync(join(folder, 'report.md'), report);
  console.log(report);
  console.log(`result hash ${hashOf(JSON.stringify(results[0]?.answers.map(({ rows }) => rows)))}`);
}

/** Those named, between commas; the start of a name up to a hyphen stands for all that have it. */
function chosenOf(names: string | undefined): readonly Measured[] {
  if (names === undefined) return MEASURED;
  const wanted = names.split(',');
  for (const one of wanted) {
    if (!MEASURED.some(({ name }) => isNamed(name, one))) {
      const all = MEASURED.map(({ name }) => name).join(', ');
      throw new Error(`there is no engine ${one}, only ${all}`);
    }
  }
  return MEASURED.filter(({ name }) => wanted.some((one) => isNamed(name, one)));
}

function isNamed(name: string, wanted: string): boolean {
  return name === wanted || name.startsWith(`${wanted}-`);
}

async function measureAll(
  stages: Stages,
  chosen: readonly Measured[],
): Promise<readonly MeasuredResult[]> {
  const here: Measured[] = [];
  for (const measured of chosen) {
    const hindrance = await stages.hindrance(measured);
    if (hindrance === undefined) here.push(measured);
    else console.error(`${measured.name} is left out: ${hindrance}`);
  }
  await stages.loadAll(here, say);
  const results: MeasuredResult[] = [];
  for (const measured of here) {
    say(`${measured.name}: asking`);
    results.push(await stages.measure(measured));
  }
  say('all asked');
  return results;
}

function say(text: string): void {
  console.error(`${new Date().toISOString()} ${text}`);
}

/** @throws Error with every question that two engines answer differently. */
function mustAgree(results: readonly MeasuredResult[], sizeName: string): void {
  const [reference, ...others] = results;
  if (reference === undefined) throw new Error('nothing was measured');
  const asked = askedOf(new Tenants(sizeOf(sizeName).projectCount));
  const differences = others.flatMap((other) => differencesOf(asked, reference, other));
  if (differences.length > 0) {
    throw new Error(`the engines do not agree:\n${differences.join('\n')}`);
  }
}

await main();
