import type { Source } from '../../ingest/source.ts';
import { type Definition, listNames } from './definition.ts';

/**
 * Warns of each name of a definition that is also a source's. Sources are found in any letter case,
 * so a query that names such a definition is refused. Sentences in ASCII, as names of sources are.
 */
export function warnOfClashes(
  definition: Pick<Definition, 'name' | 'aliases'>,
  sources: readonly Pick<Source, 'name'>[],
): readonly string[] {
  const names = listNames(definition).map((name) => name.toLowerCase());
  return sources
    .filter(({ name }) => names.includes(name.toLowerCase()))
    .map(
      ({ name }) =>
        `${name} is the name of a source and of a saved query: the saved query can be called, but no query can select from this name`,
    );
}
