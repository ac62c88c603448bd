import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { carryOut } from '../../../src/command/carry-out.ts';
import { CommandFailure } from '../../../src/command/command.ts';
import { type DefinitionCopy, readCopy, sentText } from '../../../src/command/definition-copy.ts';
import type { DefinitionSide, SideState } from '../../../src/command/definition-side.ts';
import { UnreachableError } from '../../../src/command/service-client.ts';
import { changedName, compareSides } from '../../../src/command/side-comparison.ts';
import { definitionText } from '../../../src/definition/definition-text.ts';
import { ServiceError } from '../../../src/errors.ts';
import { DEFINITION } from '../definition/any-definition.ts';
import { fileOf, idOf } from '../definition/service-with-definitions.ts';

/** Definitions in memory. Names are unique, and a definition needs those that its text names. */
class MemorySide implements DefinitionSide {
  readonly where = 'in memory';
  readonly copies = new Map<string, DefinitionCopy>();

  constructor(copies: readonly DefinitionCopy[]) {
    for (const copy of copies) this.copies.set(copy.id, copy);
  }

  async read(): Promise<SideState> {
    return { copies: [...this.copies.values()], fixed: [], problems: [] };
  }

  findObstacle(): undefined {
    return undefined;
  }

  async put(copy: DefinitionCopy): Promise<void> {
    this.#adopt(new Map(this.copies).set(copy.id, readCopy('memory', sentText(copy))));
  }

  async remove({ id }: DefinitionCopy): Promise<void> {
    const next = new Map(this.copies);
    next.delete(id);
    this.#adopt(next);
  }

  #adopt(next: ReadonlyMap<string, DefinitionCopy>): void {
    const names = Array.from(next.values(), ({ name }) => name);
    if (new Set(names).size < names.length) throw new ServiceError('definition_conflict', 'taken');
    for (const { fileText } of next.values()) {
      const needed = Array.from(fileText.matchAll(/`([^`]+)`/g), ([, name]) => name!);
      if (needed.some((name) => !names.includes(name))) throw new CommandFailure('not there');
    }
    this.copies.clear();
    for (const copy of next.values()) this.copies.set(copy.id, copy);
  }
}

/** Up to six definitions, each of which may select from some with a lower number. */
const COPIES = fc
  .tuple(
    fc.uniqueArray(fc.nat(5), { maxLength: 6 }),
    fc.array(fc.nat(63), { minLength: 6, maxLength: 6 }),
    fc.array(fc.nat(2), { minLength: 6, maxLength: 6 }),
  )
  .map(([digits, needs, variants]) =>
    digits.map((digit) => {
      const below = digits.filter((other) => other < digit && ((needs[digit]! >> other) & 1) === 1);
      const tables = below.map((other) => `\`n${9 - other}\``).join(', ');
      const sql = `SELECT ${variants[digit]} FROM ${tables || 'nothing'}`;
      return readCopy(`${digit}.sql`, fileOf(digit, `n${9 - digit}`, sql));
    }),
  );

test('law: after a synchronisation nothing is left to do, whatever selects from what', async () => {
  await fc.assert(
    fc.asyncProperty(COPIES, async (copies) => {
      const from: SideState = { copies, fixed: [], problems: [] };
      const side = new MemorySide([]);
      const compare = async () =>
        compareSides(from, { side, state: await side.read() }, { isDeleting: true });
      const { changes } = await compare();
      const { done, refused, stopped, left } = await carryOut(changes, side, () => {});
      deepEqual([done.length, refused, stopped, left], [copies.length, [], undefined, []]);
      deepEqual((await compare()).changes, []);
      // Removes everything again.
      const none: SideState = { copies: [], fixed: [], problems: [] };
      const gone = compareSides(none, { side, state: await side.read() }, { isDeleting: true });
      await carryOut(gone.changes, side, () => {});
      equal(side.copies.size, 0);
    }),
  );
});

test('law: a rewritten definition means the same, with any version', () => {
  fc.assert(
    fc.property(DEFINITION, fc.nat(100), (definition, count) => {
      const one = readCopy('one', definitionText({ ...definition, version: count + 1 }));
      const other = readCopy('other', definitionText(definition));
      equal(one.meaning, other.meaning);
      equal(readCopy('sent', sentText(one)).meaning, other.meaning);
      const changed = definitionText({ ...definition, rowsMax: (definition.rowsMax % 7) + 8 });
      equal(
        readCopy('changed', changed).meaning === other.meaning,
        (definition.rowsMax % 7) + 8 === definition.rowsMax,
      );
    }),
  );
});

test('names are exchanged in a ring as soon as one of them is free', async () => {
  const copy = (digit: number, name: string) =>
    readCopy(`${digit}`, fileOf(digit, name, 'SELECT 1'));
  const side = new MemorySide([copy(1, 'a'), copy(2, 'b')]);
  const from: SideState = { copies: [copy(1, 'b'), copy(2, 'c')], fixed: [], problems: [] };
  const state = await side.read();
  const { changes } = compareSides(from, { side, state }, { isDeleting: false });
  const outcome = await carryOut(changes, side, () => {});
  deepEqual(outcome.done.map(changedName), ['c', 'b']);
  equal(side.copies.get(idOf(1))?.name, 'b');
});

test('when the service disappears, changes are reported as made, uncertain or not begun', async () => {
  const copies = [1, 2, 3, 4].map((digit) =>
    readCopy(`${digit}`, fileOf(digit, `n${digit}`, digit === 1 ? 'SELECT `n9`' : 'SELECT 1')),
  );
  const side = new MemorySide([]);
  const flaky: DefinitionSide = {
    where: side.where,
    read: () => side.read(),
    findObstacle: () => undefined,
    put: (copy) =>
      copy.name === 'n3' ? Promise.reject(new UnreachableError('gone')) : side.put(copy),
    remove: (copy) => side.remove(copy),
  };
  const told: string[] = [];
  const from: SideState = { copies, fixed: [], problems: [] };
  const { changes } = compareSides(from, { side, state: await side.read() }, { isDeleting: false });
  const outcome = await carryOut(changes, flaky, (change) => told.push(changedName(change)));
  deepEqual([outcome.done.map(changedName), told], [['n2'], ['n2']]);
  equal(outcome.stopped && changedName(outcome.stopped.change), 'n3');
  deepEqual([outcome.refused, outcome.left.map(changedName)], [[], ['n1', 'n4']]);
});
