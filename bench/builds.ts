import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';

/** One build of the service. */
export type Build = {
  readonly name: 'weir' | 'beside';
  readonly command: readonly string[];
  /** The checkout that it is of. */
  readonly root: string;
};

/**
 * The builds in the order in which they are measured: this one alone, or by turns with that of another checkout, which
 * must have been built there, so that a machine that gets slower is unfair to none.
 *
 * @throws Error when there is no service in the other checkout.
 */
export function buildsInTurn(
  command: readonly string[],
  beside: string | undefined,
): readonly Build[] {
  const here: Build = { name: 'weir', command, root: '.' };
  if (beside === undefined) return [here];
  const path = resolve(beside, relative('.', command.at(-1)!));
  if (!existsSync(path)) throw new Error(`${path} is not there: build the other checkout first`);
  const there: Build = { name: 'beside', command: [...command.slice(0, -1), path], root: beside };
  return [here, there, there, here];
}
