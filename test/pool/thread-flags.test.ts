import { equal } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { moduleUrl } from '../support/program-words.ts';

const ENGINE = moduleUrl('../../engine/engine.ts', import.meta.url).href;

/** Makes a thread compute an array that planning does not. */
const PROGRAM = `
import { Engine } from ${JSON.stringify(ENGINE)};
const catalog = { segments: () => [], dropped: () => ({ count: 0, ids: [] }) };
const engine = new Engine({ sources: [], catalog, workerCount: 1 });
const sql = 'SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 100000))';
const { json } = await engine.run(engine.prepare(sql, []), { parameters: new Map(), nowUs: 0, rowsMax: 1 });
process.stdout.write(json);
await engine.close();
`;

test('threads start in a process with flags of V8 and of the process', async () => {
  const flags = ['--max-semi-space-size=16', '--stack-trace-limit=20', '--title=weir'];
  const words = [...flags, '--import', 'tsx', '--input-type=module', '--eval', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  equal(stdout, '[{"n":100000}]');
});
