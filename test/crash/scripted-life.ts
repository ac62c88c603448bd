/**
 * A short life of a log on the real disk, for `strace.test.ts` to be killed and lied to: replays what is
 * there, posts in waves, rotates, trims, and says on standard output what it knows, a line each:
 * `sent 7`, `kept 7 12` (post, sequence), `refused 7`, `trim 5`, `end`.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { recoverLog } from '../../ingest/log/log-recovery.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { Quarantine } from '../../ingest/quarantine.ts';
import { smallBatch } from '../support/small-batch.ts';

const WAVES = 8;
const POSTS_PER_WAVE = 3;
const FILE_BYTES_MAX = 6_000;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

const data = process.argv[2]!;
const folder = join(data, 'log');
const disk = new NodeDisk();
await disk.makeFolder(folder);
const recovered = await recoverLog({
  ...{ disk, folder, quarantine: new Quarantine(disk, join(data, 'quarantine')) },
  apply: async () => {},
  onDamage: () => {},
  onProgress: () => {},
});
const log = await WriteAheadLog.open({
  ...{ disk, folder, ...recovered, fileBytesMax: FILE_BYTES_MAX },
  onEvent: ({ kind }) => say(kind),
});
let sequence = 0;
for (let wave = 0; wave < WAVES; wave++) {
  const posts = Array.from({ length: POSTS_PER_WAVE }, async (_, index) => {
    const post = wave * POSTS_PER_WAVE + index;
    say(`sent ${post}`);
    try {
      const batch = smallBatch([`${post}`, `${post}${'.'.repeat(500)}`]);
      sequence = await log.append({ source: 's', receivedUs: 0, arrivalBase: post, batch });
      say(`kept ${post} ${sequence}`);
    } catch {
      say(`refused ${post}`);
    }
  });
  await Promise.all(posts);
  // A new file takes a moment.
  if (log.refusal !== undefined) await wait(50);
  if (wave % 3 === 2) say(`trim ${sequence - 4}`);
  log.tick(Number.NEGATIVE_INFINITY, wave % 3 === 2 ? sequence - 4 : 0);
}
await log.close();
say('end');
