import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { HttpClient } from '../../bench/http-client.ts';
import { ServiceProcess } from '../../bench/service-process.ts';
import { Random } from '../../src/traffic/random.ts';
import { fuzzSeed, numberFrom } from '../fuzz/seed.ts';

/** `WEIR_KILLS=500` is the long form. */
const KILLS = numberFrom('WEIR_KILLS', 2);
const SENDERS = 4;
const PATH = '/api/logs?source_name=cloudflare.logs.prod';

const DEFINITION = `-- id: 0b7f1f6e-5a0e-4a8e-9d27-6b8a4c1f2e33
-- name: crash.everything
-- description: Every event of a project
-- max_rows: 100000
-- param: project string required

SELECT t.id, t.event_message AS post FROM \`cloudflare.logs.prod\` AS t
WHERE t.project = @project ORDER BY t.timestamp, t.id
`;

/** What senders know: how many events each post has, and which posts were acknowledged. */
class Ledger {
  readonly eventCounts = new Map<string, number>();
  readonly acknowledged = new Set<string>();

  check(rows: readonly { readonly id: string; readonly post: string }[]): void {
    const ids = new Set<string>();
    const found = new Map<string, number>();
    for (const { id, post } of rows) {
      assert(!ids.has(id), `event ${id} is there once`);
      ids.add(id);
      found.set(post, (found.get(post) ?? 0) + 1);
    }
    for (const [post, count] of found) {
      assert.equal(count, this.eventCounts.get(post), `post ${post} is there as a whole`);
    }
    for (const post of this.acknowledged) assert(found.has(post), `post ${post} was acknowledged`);
  }
}

/** Posts, one after another, until the service is gone. */
async function send(
  client: HttpClient,
  ledger: Ledger,
  random: Random,
  sender: string,
): Promise<void> {
  for (let number = 0; ; number++) {
    const post = `${sender}-${number}`;
    const events = Array.from({ length: 1 + random.below(20) }, (_, index) => ({
      id: `${post}-${index}`,
      project: 'p',
      event_message: post,
      metadata: { request: { path: `/rest/v1/${random.hex(random.below(200))}` } },
    }));
    ledger.eventCounts.set(post, events.length);
    try {
      const answer = await client.post(PATH, Buffer.from(JSON.stringify(events)));
      if (answer.status === 200) ledger.acknowledged.add(post);
    } catch {
      return;
    }
  }
}

test('of a service that is killed amid posts nothing acknowledged is lost, doubled or halved', async () => {
  const seed = fuzzSeed();
  const random = new Random(seed);
  const folder = await mkdtemp(join(tmpdir(), 'weir-kill-'));
  const definitions = join(folder, 'definitions');
  const dataDir = join(folder, 'data');
  await Promise.all([mkdir(definitions), mkdir(dataDir)]);
  await writeFile(join(definitions, 'everything.sql'), DEFINITION);
  const ledger = new Ledger();
  const command = ['--import', 'tsx', 'src/main.ts'];
  const environment = { ENDPOINTS_DIR: definitions, WORKERS: '1' };
  try {
    for (let kill = 0; kill <= KILLS; kill++) {
      const service = await ServiceProcess.start(command, environment, dataDir);
      const client = new HttpClient(service.url, service.token, SENDERS);
      try {
        const answer = await client.get('/api/endpoints/crash.everything?project=p');
        assert.equal(answer.status, 200, answer.body.toString());
        ledger.check(JSON.parse(answer.body.toString()).result);
        const senders = Array.from({ length: SENDERS }, (_, sender) =>
          send(client, ledger, random, `${kill}-${sender}`),
        );
        await wait(20 + random.below(480));
        await service.kill();
        await Promise.all(senders);
      } finally {
        client.close();
        await service.kill();
      }
    }
    assert(ledger.acknowledged.size > KILLS, 'posts were acknowledged between the kills');
  } catch (error) {
    throw new Error(`seed ${seed}`, { cause: error });
  } finally {
    await rm(folder, { recursive: true });
  }
});
