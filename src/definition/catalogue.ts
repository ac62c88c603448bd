import { join } from 'node:path';
import { assert } from '../../engine/columns.ts';
import { isUuid } from '../../ingest/source.ts';
import { systemReason } from '../../ingest/system-reason.ts';
import { DEFINITIONS_MAX } from '../limits.ts';
import type { ProfileName } from '../profile.ts';
import { DefinitionError } from './definition-error.ts';
import { builtInFolder, definitionNames, readDefinitionFile } from './definition-reading.ts';
import { DefinitionSet, type Preparing } from './definition-set.ts';
import type { Endpoint } from './endpoint.ts';
import { type Origin, readSaved, type SavedDefinition } from './saved-definition.ts';

/**
 * The problems of the definition files, each with its place; at least one for each invalid file.
 */
export class CatalogueError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n\n'));
    this.name = 'CatalogueError';
    this.problems = problems;
  }
}

/** The current saved queries by id, name and alias. No two share one of them. */
export class Catalogue {
  #byId: ReadonlyMap<string, Endpoint> = new Map();
  #byName: ReadonlyMap<string, Endpoint> = new Map();
  #version = 0;

  constructor(endpoints: readonly Endpoint[]) {
    this.replace(endpoints);
  }

  /** Replaces all endpoints. Only the owner of the definitions calls it. */
  replace(endpoints: readonly Endpoint[]): void {
    const byId = new Map(endpoints.map((endpoint) => [endpoint.definition.id, endpoint] as const));
    const named = endpoints.flatMap((endpoint) => {
      const { name, aliases } = endpoint.definition;
      return [name, ...aliases].map((each) => [each, endpoint] as const);
    });
    const byName = new Map(named);
    const isDistinct = byId.size === endpoints.length && byName.size === named.length;
    assert(isDistinct, 'an endpoint has its own id and names');
    this.#byId = byId;
    this.#byName = byName;
    this.#version += 1;
  }

  /** Finds by id if the text is a whole UUID, else by name or alias. */
  find(idOrName: string): Endpoint | undefined {
    return isUuid(idOrName) ? this.#byId.get(idOrName.toLowerCase()) : this.#byName.get(idOrName);
  }

  /** Counts up with each change. */
  get version(): number {
    return this.#version;
  }

  /** In the order they were given. */
  list(): readonly Endpoint[] {
    return [...this.#byId.values()];
  }
}

/**
 * Reads and binds the built-in definitions and those of `folder` for a profile.
 *
 * @throws CatalogueError with the first problem of every file.
 */
export async function loadCatalogue(options: {
  readonly folder: string | undefined;
  /** Defaults to `default`. */
  readonly profile?: ProfileName;
  readonly engine: Preparing;
}): Promise<Catalogue> {
  const { engine, folder, profile = 'default' } = options;
  const problems: string[] = [];
  const saved = await readBuiltIn(profile);
  if (folder !== undefined) saved.push(...(await readFolder(folder, profile, problems)));
  const set = new DefinitionSet(saved, { engine });
  problems.push(...set.problems.map(({ error }) => error.message));
  if (problems.length > 0) throw new CatalogueError(problems);
  return new Catalogue(set.endpoints);
}

/** Reads the built-in definitions. */
export async function readBuiltIn(profile: ProfileName): Promise<SavedDefinition[]> {
  const problems: string[] = [];
  const saved = await readAll(builtInFolder(), { origin: 'built-in', profile }, problems);
  if (problems.length > 0) throw new CatalogueError(problems);
  return saved;
}

/** Reads the valid definitions of `ENDPOINTS_DIR`, and adds the problems of the others. */
async function readFolder(
  folder: string,
  profile: ProfileName,
  problems: string[],
): Promise<SavedDefinition[]> {
  try {
    return await readAll(folder, { origin: 'folder', profile }, problems);
  } catch (error) {
    const reason = systemReason(error);
    problems.push(`ENDPOINTS_DIR must be a readable folder; ${folder} cannot be read: ${reason}`);
    return [];
  }
}

async function readAll(
  folder: string,
  { origin, profile }: { readonly origin: Origin; readonly profile: ProfileName },
  problems: string[],
): Promise<SavedDefinition[]> {
  const saved: SavedDefinition[] = [];
  const names = await definitionNames(folder);
  if (names.length > DEFINITIONS_MAX) {
    problems.push(`there may be at most ${DEFINITIONS_MAX} definition files; got ${names.length}`);
    return saved;
  }
  for (const name of names) {
    const file = join(folder, name);
    try {
      saved.push(readSaved({ origin, file, fileText: await readDefinitionFile(file) }, profile));
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error;
      problems.push(error.message);
    }
  }
  return saved;
}
