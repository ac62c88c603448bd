import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../../../src/command/command-table.ts';
import { runWeir } from '../../support/command-under-test.ts';
import { readText } from '../../support/source-files.ts';

const EXIT = 'Exit status: 0 success, 1 failure or damaged data, 2 usage error.\n';

test('the help lists each command in one line', async () => {
  for (const words of [['--help'], ['-h']]) {
    const { status, out, err } = await runWeir(words);
    assert.deepEqual([status, err], [0, '']);
    const listed = Array.from(out.matchAll(/^ {2}weir (\w+) +\S/gm), ([, name]) => name);
    assert.deepEqual(
      listed,
      COMMANDS.map(({ name }) => name),
    );
    assert.ok(out.endsWith(`\n\n${EXIT}`), out);
  }
});

test('weir help is weir --help, also for one command', async () => {
  assert.deepEqual(await runWeir(['help']), await runWeir(['--help']));
  assert.deepEqual(await runWeir(['help', 'tail']), await runWeir(['tail', '--help']));
  const unknown = await runWeir(['help', 'tial']);
  assert.equal(unknown.status, 2);
  assert.match(unknown.err, /got "tial"; did you mean tail\?/);
});

for (const { name, summary, read } of COMMANDS) {
  test(`weir ${name} --help shows usage, flags and exit status, and no other flag is accepted`, async () => {
    const { status, out, err } = await runWeir([name, '--help']);
    assert.deepEqual([status, err], [0, '']);
    assert.ok(out.includes(`\n  weir ${name}`), out);
    assert.ok(out.startsWith(`weir ${name} - ${summary}\n`), out);
    assert.ok(out.includes('\n  --help'), out);
    const { flags } = await read();
    for (const flag of Object.keys(flags))
      assert.match(out, new RegExp(`^ {2}--${flag} +\\S`, 'm'));
    assert.ok(out.endsWith(`\n\n${EXIT}`), out);
    assert.deepEqual(
      out.split('\n').filter((line) => line.length > 100),
      [],
    );
    const slip = await runWeir([name, '--frob'], { isTerminal: true });
    assert.deepEqual([slip.status, slip.out], [2, '']);
    assert.ok(slip.err.startsWith(`${name} has no flag "--frob"; `), slip.err);
    assert.ok(slip.err.endsWith(`Try "weir ${name} --help" for more information.\n`), slip.err);
  });
}

test('an unknown command is reported with the nearest and all commands', async () => {
  const near = await runWeir(['explian', 'logs.all']);
  assert.deepEqual([near.status, near.out], [2, '']);
  assert.match(near.err, /got "explian"; did you mean explain\?/);
  const far = await runWeir(['frobnicate']);
  assert.equal(far.status, 2);
  assert.match(far.err, /must be one of start, demo, .*verify; got "frobnicate"\n/);
  const none = await runWeir([]);
  assert.equal(none.status, 2);
  assert.match(none.err, /; got nothing\n/);
  const more = await runWeir(['--version', 'again']);
  assert.equal(more.status, 2);
});

test('docs/cli.md describes every command', () => {
  const [, table] =
    /^\| command \|.*\n\|[-| ]+\|\n((?:\|.*\n)+)/m.exec(readText('docs/cli.md')) ?? [];
  assert.ok(table !== undefined, 'docs/cli.md has a table that begins | command |');
  const named = Array.from(table.matchAll(/^\| `weir (\w+)/gm), ([, name]) => name);
  assert.deepEqual(
    named,
    COMMANDS.map(({ name }) => name),
  );
});
