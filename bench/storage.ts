import { join } from 'node:path';
import { findStorePath } from '../ingest/data-folder.ts';
import { showProgress } from '../src/command/progress.ts';
import {
  CONNECTIONS,
  EDGE_PATH,
  type EdgeEvents,
  LARGE_POST_EVENTS,
  NOW_MS,
} from './edge-events.ts';
import { HttpClient } from './http-client.ts';
import { barText } from './measure.ts';
import { postAll, refusalText } from './posting.ts';
import { filesBelow, sealEverything } from './sealed-folder.ts';
import type { ServiceProcess } from './service-process.ts';
import { ZstdSize } from './zstd-size.ts';

/** Posts made before the clock runs: making them is not what is timed. */
const POSTS_AHEAD = 40;

/**
 * Posts so many events as fast as they go to a service on an empty `folder`, stops it, and tells what
 * they take there once all are sealed. Resolves to the events taken in a second.
 */
export async function storage(
  service: ServiceProcess,
  edge: EdgeEvents,
  to: { readonly eventCount: number; readonly folder: string },
): Promise<number> {
  const zstd = new ZstdSize();
  let sent = 0;
  let postingMs = 0;
  let jsonSize = 0;
  let refusalCount = 0;
  try {
    const client = new HttpClient(service.url, service.token, CONNECTIONS);
    while (sent < to.eventCount) {
      const bodies: Buffer[] = [];
      for (; bodies.length < POSTS_AHEAD && sent < to.eventCount; sent += LARGE_POST_EVENTS) {
        const lines = edge.take(LARGE_POST_EVENTS).map((event) => JSON.stringify(event));
        bodies.push(Buffer.from(`[${lines.join(',')}]`));
        const text = Buffer.from(`${lines.join('\n')}\n`);
        jsonSize += text.length;
        zstd.add(text);
      }
      const fromMs = performance.now();
      let next = 0;
      const at = { path: EDGE_PATH, connectionCount: CONNECTIONS };
      refusalCount += await postAll(client, at, () => bodies[next++]);
      postingMs += performance.now() - fromMs;
      showProgress(`${sent} of ${to.eventCount}`);
    }
    showProgress('');
    client.close();
  } finally {
    await service.stop();
  }
  const perSecond = sent / (postingMs / 1000);
  console.log(
    `${Math.round(perSecond)} events/s taken in durably, ${sent} events${refusalText(refusalCount)}`,
  );
  const storePath = await findStorePath(to.folder);
  await sealEverything(storePath, NOW_MS * 1000);
  const files = filesBelow(join(storePath, 'segments'), '.segment');
  reportSize({ sent, jsonSize, files, zstdSize: zstd.end() });
  return perSecond;
}

function reportSize(sizes: {
  readonly sent: number;
  readonly jsonSize: number;
  readonly files: { readonly count: number; readonly byteSize: number };
  readonly zstdSize: number | undefined;
}): void {
  const { sent, jsonSize, files, zstdSize } = sizes;
  const perEvent = (size: number): string => (size / sent).toFixed(0);
  const comparison =
    zstdSize === undefined
      ? 'there is no zstd on this machine to compare with (bar: no more than zstd -3)'
      : `${perEvent(zstdSize)} B/event by zstd -3 in blocks of 1 MB ` +
        barText('no more than zstd', files.byteSize <= zstdSize);
  console.log(
    `${perEvent(files.byteSize)} B/event in ${files.count} segment files, of ` +
      `${perEvent(jsonSize)} B/event as NDJSON; ${comparison}`,
  );
}
