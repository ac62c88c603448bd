import { parseArgs } from 'node:util';
import { programWords } from '../test/support/program-words.ts';

/** What the command line of a benchmark says. */
export type SizeOptions<Size> = {
  readonly size: Size;
  /** What runs the service: as it is built, or in the form in which the benchmark itself runs. */
  readonly command: readonly string[];
  readonly isUncompiled: boolean;
  /** Options of its own, as they stand there. */
  readonly own: Readonly<Record<string, string | undefined>>;
};

/**
 * Reads `--size`, the largest unless given, `--uncompiled`, and options of the benchmark's own that take a text. Others
 * are refused.
 */
export function readSizeOptions<Size>(
  sizes: ReadonlyMap<string, Size>,
  ownNames: readonly string[] = [],
): SizeOptions<Size> {
  const names = [...sizes.keys()];
  const { values } = parseArgs({
    options: {
      size: { type: 'string', default: names.at(-1) ?? '' },
      uncompiled: { type: 'boolean' },
      ...Object.fromEntries(ownNames.map((name) => [name, { type: 'string' } as const])),
    },
  });
  const { size: name, uncompiled: isUncompiled = false, ...own } = values;
  const size = sizes.get(name);
  if (size === undefined) throw new Error(`--size must be one of ${names}; got ${name}`);
  const command = isUncompiled ? programWords('src/main.ts') : ['dist/src/main.js'];
  return { size, command, isUncompiled, own };
}
