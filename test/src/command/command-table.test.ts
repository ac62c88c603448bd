import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../../../src/command/command-table.ts';
import { runWeir } from '../../support/command-under-test.ts';
import { readText } from '../../support/source-files.ts';

test('the help lists every command in one line each', async () => {
  for (const words of [['--help'], ['-h']]) {
    const { status, out, err } = await runWeir(words);
    assert.deepEqual([status, err], [0, '']);
    const listed = Array.from(out.matchAll(/^ {2}weir (\w+) +\S/gm), ([, name]) => name);
    assert.deepEqual(
      listed,
      COMMANDS.map(({ name }) => name),
    );
    assert.match(out, /^Exit status: /m);
  }
});

for (const { name } of COMMANDS) {
  test(`weir ${name} --help tells how it is used and how it ends, and takes no other flag`, async () => {
    const { status, out, err } = await runWeir([name, '--help']);
    assert.deepEqual([status, err], [0, '']);
    assert.ok(out.includes(`\n  weir ${name}`), out);
    assert.ok(out.startsWith(`weir ${name} `), out);
    assert.match(out, /Exit status: 0 /);
    assert.deepEqual(
      out.split('\n').filter((line) => line.length > 100),
      [],
    );
    const slip = await runWeir([name, '--frob']);
    assert.deepEqual([slip.status, slip.out], [2, '']);
    assert.match(slip.err, /'--frob'/);
    assert.ok(slip.err.endsWith(`weir ${name} --help tells how it is used\n`), slip.err);
  });
}

test('a word that is no command is told with all there are, and the nearest', async () => {
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

test('the README has every command', () => {
  const [, table] =
    /^\| command \|.*\n\|[-| ]+\|\n((?:\|.*\n)+)/m.exec(readText('README.md')) ?? [];
  assert.ok(table !== undefined, 'README.md has a table that begins | command |');
  const named = Array.from(table.matchAll(/^\| `weir (\w+)/gm), ([, name]) => name);
  assert.deepEqual(
    named,
    COMMANDS.map(({ name }) => name),
  );
});
