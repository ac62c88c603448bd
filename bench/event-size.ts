/**
 * How many bytes does an event take, in memory and on disk, when all are sealed, and how many in a file
 * that zstd has compressed?
 *
 *   npm run build && node --import tsx bench/event-size.ts
 *   node --import tsx bench/event-size.ts --only invocations
 *   node --import tsx bench/event-size.ts --size small   as the tests run it
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../engine/assert.ts';
import { barText, environmentLine } from './measure.ts';
import { readSizeOptions } from './size-options.ts';
import { Tenants } from './workload/tenants.ts';
import { KINDS, type Kind, ndjson } from './workload/workload.ts';
import { openWorkload } from './workload/workload-backend.ts';
import { ZstdSize } from './zstd-size.ts';

/** The tool compresses blocks of about this many events at a time. */
const EVENTS_PER_TEXT = 1000;

type Measured = {
  readonly kind: 'lean' | 'invocations' | 'full';
  readonly memoryMax: number | { readonly ofZstd: number };
};

/** Bytes of memory that an event may take; full ones, on disk, no more than zstd makes of them. */
const MEASURED: readonly Measured[] = [
  { kind: 'lean', memoryMax: 100 },
  { kind: 'invocations', memoryMax: 45 },
  { kind: 'full', memoryMax: { ofZstd: 1.5 } },
];

type Size = {
  readonly projectCount: number;
  readonly eventCounts: Readonly<Record<'lean' | 'invocations' | 'full', number>>;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  ['small', { projectCount: 20, eventCounts: { lean: 3e3, invocations: 3e3, full: 500 } }],
  ['large', { projectCount: 2e3, eventCounts: { lean: 1e7, invocations: 1e7, full: 5e5 } }],
]);

async function main(): Promise<void> {
  const { size, own } = readSizeOptions(SIZES, ['only']);
  console.log(environmentLine());
  for (const measured of MEASURED) {
    if (own['only'] !== undefined && own['only'] !== measured.kind) continue;
    const { projectCount, eventCounts } = size;
    await tell(measured, { eventCount: eventCounts[measured.kind], projectCount });
  }
}

async function tell(
  { kind, memoryMax }: Measured,
  of: { readonly eventCount: number; readonly projectCount: number },
): Promise<void> {
  const { eventCount, projectCount } = of;
  const parent = mkdtempSync(join(tmpdir(), 'weir-event-size-'));
  try {
    const { backend, nowUs } = await openWorkload({
      ...{ eventCounts: new Map([[kind, eventCount]]), projectCount },
      folder: join(parent, 'data'),
    });
    const stats = backend.stats().sources.find(({ source }) => source === KINDS.get(kind)!.source);
    const { byteSize, stored } = must(stats, 'the source is one of the backend');
    await backend.close(nowUs);
    const { json, zstd } = textSizes(kind, of);
    const each = (bytes: number): string => (bytes / eventCount).toFixed(1);
    const most = typeof memoryMax === 'number' ? memoryMax * eventCount : memoryMax.ofZstd * zstd;
    const diskBar =
      kind === 'full' ? ` ${barText('no more than zstd', stored.byteSize <= zstd)}` : '';
    console.log(
      `${kind}: ${each(json)} B of JSON, ${each(zstd)} B by zstd -3, ` +
        `${each(byteSize)} B in memory ${barText(`<= ${each(most)}`, byteSize <= most)}, ` +
        `${each(stored.byteSize)} B on disk${diskBar}`,
    );
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** Bytes of all events as NDJSON, and compressed; `NaN` where there is no such tool. */
function textSizes(
  kind: Kind,
  of: { readonly eventCount: number; readonly projectCount: number },
): { readonly json: number; readonly zstd: number } {
  const { eventCount, projectCount } = of;
  const tenants = new Tenants(projectCount);
  const compressed = new ZstdSize();
  let json = 0;
  for (const { text } of ndjson(kind, { tenants, eventCount, perText: EVENTS_PER_TEXT })) {
    const bytes = Buffer.from(text);
    json += bytes.length;
    compressed.add(bytes);
  }
  return { json, zstd: compressed.end() ?? Number.NaN };
}

await main();
