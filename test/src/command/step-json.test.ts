import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { CommandFailure } from '../../../src/command/command.ts';
import { readCopy } from '../../../src/command/definition-copy.ts';
import type { SideChange } from '../../../src/command/side-comparison.ts';
import { StepJson } from '../../../src/command/step-json.ts';
import { ServiceError } from '../../../src/errors.ts';
import { fileOf } from '../definition/service-with-definitions.ts';

function made(digit: number): SideChange {
  const text = fileOf(digit, `app.n${digit}`, 'SELECT 1 AS n');
  return { before: undefined, after: readCopy(`${digit}.sql`, text) };
}

test('a program learns which change is uncertain and which were not begun', () => {
  const changes = [made(1), made(2), made(3), made(4)];
  const [first, second, third, fourth] = changes as [
    SideChange,
    SideChange,
    SideChange,
    SideChange,
  ];
  let out = '';
  const report = new StepJson({ out: (text) => (out += text) });
  report.compared({ changes, sameCount: 5, alone: [], problems: ['a sentence'] });
  report.ended({
    done: [third],
    refused: [{ change: fourth, error: new ServiceError('definition_limit', 'there are enough') }],
    stopped: { change: first, error: new CommandFailure('it has gone') },
    left: [second],
  });
  const told = JSON.parse(out);
  deepEqual(
    told.changes.map(({ name, result, error }: Record<string, unknown>) => [name, result, error]),
    [
      ['app.n1', 'uncertain', errorOf(null, 'it has gone')],
      ['app.n2', 'left', null],
      ['app.n3', 'done', null],
      ['app.n4', 'refused', errorOf('definition_limit', 'there are enough')],
    ],
  );
  deepEqual([told.sameCount, told.alone, told.problems], [5, [], ['a sentence']]);
});

function errorOf(code: string | null, message: string) {
  return { code, message, line: null, column: null, caret: null };
}
