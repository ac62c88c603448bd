import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../../../src/command/command-table.ts';
import { SETTINGS } from '../../../src/setting-table.ts';
import { runWeir } from '../../support/command-under-test.ts';

/** The first line of the error for a wrong command line. */
async function refusalOf(...words: readonly string[]): Promise<string> {
  const { status, out, err } = await runWeir(words, { isTerminal: true });
  deepEqual([status, out], [2, ''], err);
  const [first, ...rest] = err.split('\n');
  deepEqual(rest, ['', `Try "weir ${words[0]} --help" for more information.`, ''], err);
  return first!;
}

test('an unknown flag is refused with the nearest one, or with a list of all', async () => {
  equal(
    await refusalOf('tail', 'app.logs', '--projct', 'alpha'),
    'tail has no flag "--projct"; did you mean --project?',
  );
  equal(
    await refusalOf('tail', 'app.logs', '--projct=alpha'),
    'tail has no flag "--projct"; did you mean --project?',
  );
  equal(
    await refusalOf('start', '--MEMORY_LIMT=1GiB'),
    'start has no flag "--MEMORY_LIMT"; did you mean --memory-limit?',
  );
  equal(
    await refusalOf('inspect', 'data', '--frobnicate'),
    'inspect has no flag "--frobnicate"; it has --segments, --json, --help',
  );
  equal(
    await refusalOf('inspect', 'data', '-json'),
    'inspect has no flag "-json"; did you mean --json?',
  );
  match(await refusalOf('verify', '-j', 'data'), /^verify has no flag "-j"; it has --restore, /);
});

test('a parameter written as a flag, and a flag written as a parameter, are recognised', async () => {
  for (const name of ['query', 'explain']) {
    for (const words of [['--project', 'alpha'], ['--project=alpha']]) {
      equal(
        await refusalOf(name, 'app.logs', ...words),
        `${name} has no flag "--project"; a parameter is written without hyphens: project=VALUE`,
      );
    }
  }
  equal(
    await refusalOf('tail', 'app.logs', 'project=alpha'),
    'tail must be followed by the name of one source; got "app.logs", "project=alpha"; did you mean --project=VALUE?',
  );
  equal(
    await refusalOf('start', 'PORT=5000'),
    'start takes no arguments; got "PORT=5000"; did you mean --port=VALUE?',
  );
  equal(await refusalOf('start', 'x=y'), 'start takes no arguments; got "x=y"');
  // A prefix of one flag's name suffices, and the suggestion for a flag without a value has none.
  equal(
    await refusalOf('sources', 'add', 'app.logs', 'project=metadata.p'),
    'sources add must be followed by the name of one source; got "app.logs", "project=metadata.p"; did you mean --project-path=VALUE?',
  );
  equal(
    await refusalOf('endpoints', 'push', 'folder', 'dry-run'),
    'push must be followed by one folder of definitions; got "folder", "dry-run"; did you mean --dry-run?',
  );
  equal(
    await refusalOf('verify', 'data', 'jsn=1'),
    'verify must be followed by one data folder; got "data", "jsn=1"; did you mean --json?',
  );
});

test('a flag has a value exactly if it takes one', async () => {
  equal(
    await refusalOf('tail', 'app.logs', '--last'),
    '--last must be followed by a value: --last N; got nothing',
  );
  equal(
    await refusalOf('tail', 'app.logs', '--last', '--json'),
    '--last must be followed by a value: --last N; got "--json"; a value that begins with a hyphen is written --last=VALUE',
  );
  equal(await refusalOf('inspect', 'data', '--json=yes'), '--json takes no value; got "yes"');
  match(
    await refusalOf('tail', 'app.logs', '--url=-x'),
    /^--url must be the address .*; got "-x"$/,
  );
});

test('all words after two hyphens are arguments, and a single hyphen is one', async () => {
  match(await refusalOf('verify', 'a', '--', '--json'), /got "a", "--json"$/);
  match(await refusalOf('verify', 'a', '-'), /got "a", "-"$/);
});

test('text from others is escaped for the terminal', async () => {
  ok(!(await refusalOf('verify', '--\u001b[2J')).includes('\u001b'));
});

test('no secret is a flag of any command, and no given secret is repeated', async () => {
  const secrets = SETTINGS.filter(([, { isSecret }]) => isSecret === true);
  equal(secrets.length, 4);
  for (const [, { variable, alias }] of secrets) {
    for (const written of alias === undefined ? [variable] : [variable, alias]) {
      const flag = `--${written.toLowerCase().replaceAll('_', '-')}`;
      for (const words of [
        [flag, 'hidden-x'],
        [`${flag}=hidden-x`],
        [`${flag}-file=hidden-x`],
        [`${flag.slice(0, -1)}=hidden-x`],
      ]) {
        for (const { name } of COMMANDS) {
          const refusal = await refusalOf(name, ...words);
          match(
            refusal,
            /^a secret cannot be a flag, as other users of the machine can see flags; /,
          );
          ok(refusal.includes(`set the variable ${variable}, or ${variable}_FILE to`), refusal);
          ok(!refusal.includes('hidden-x'));
        }
      }
      ok(!(await refusalOf('start', `${written}=hidden-x`)).includes('hidden-x'));
    }
  }
});
