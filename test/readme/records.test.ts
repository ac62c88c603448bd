import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { NOW, us } from '../scripts/script.ts';
import { sandboxedDefinition } from '../support/sandboxed-definition.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';
import { readText } from '../support/source-files.ts';

/** A row of the table: what is selected, what comes, and how a reader gets at what is inside. */
type RecordRow = {
  readonly selected: string;
  readonly json: string;
  readonly reads: readonly string[];
};

const SECTION = readText('docs/http-api.md')
  .split('### Records in answers\n')[1]!
  .split('\n## ')[0]!;

const METADATA = JSON.parse(/metadata\s`(\{.*?\})`/s.exec(SECTION)![1]!.replaceAll('\n', ' '));

const ROWS = Array.from(
  SECTION.matchAll(/^\| `(.+?)` \| `(.+?)` \| (.+) \|$/gm),
  ([, selected, json, reads]): RecordRow => ({
    selected: selected!,
    json: json!,
    reads: Array.from(reads!.matchAll(/`(x[^`]*)`/g), ([, path]) => path!),
  }),
).slice(1);

/** What the path of a reader's program, such as `x[0].status`, comes to. */
function read(x: unknown, path: string): unknown {
  const steps = path.matchAll(/\[(\d+)\]|\.(\w+)/g);
  return Array.from(steps).reduce<unknown>(
    (at, [, index, name]) => (at as Record<string, unknown>)[(index ?? name)!],
    x,
  );
}

test('the table has its rows', () => assert.ok(ROWS.length >= 10, String(ROWS.length)));

for (const PROFILE of ['default', 'supabase']) {
  suite(`in the profile ${PROFILE}`, () => {
    let service: ServiceUnderTest;
    let folder: string;

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'weir-records-'));
      await writeFile(join(folder, 'logs.sql'), sandboxedDefinition());
      service = await ServiceUnderTest.start({ PROFILE, ENDPOINTS_DIR: folder });
      const event = { event_message: 'a', project: 'shop', metadata: METADATA };
      await service.post('cloudflare.logs.prod', [event], us(NOW));
    });

    after(async () => {
      await service?.stop();
      await rm(folder, { recursive: true, force: true });
    });

    for (const { selected, json, reads } of ROWS) {
      test(`${selected} is returned as ${json}`, async () => {
        const sql = `SELECT ${selected} AS x, TO_JSON_STRING(${selected}) AS text
          FROM edge_logs CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.hops) AS hop
          ORDER BY hop.n LIMIT 1`;
        const body = { project: 'shop', project_tier: 'PRO', sql };
        const answer = await service.callText('logs.sandboxed', body);
        assert.equal(answer, `{"result":[{"x":${json},"text":${JSON.stringify(json)}}]}`);
        for (const path of reads) {
          const found = read(JSON.parse(json), path);
          assert.equal(found, path.endsWith('.n') ? 1 : 200, path);
        }
      });
    }
  });
}
