import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '../../engine/assert.ts';
import type { PreparedQuery } from '../../engine/engine.ts';
import { QueryError } from '../../engine/query-error.ts';
import { isUuid } from '../../ingest/source.ts';
import { SQL_PARAMETER } from '../call/caller-sql.ts';
import type { QueryEngine } from '../call/query-engine.ts';
import { DEFINITION_BYTES_MAX, DEFINITIONS_MAX } from '../limits.ts';
import { packageRoot } from '../package-root.ts';
import type { ProfileName } from '../profile.ts';
import type { Definition } from './definition.ts';
import { DefinitionError, type Position, type Refuse } from './definition-error.ts';
import { parseDefinitionFile } from './definition-file.ts';
import { sqlTypeOf } from './parameter-value.ts';
import { ParameterSchema } from './parameters.ts';

/** A saved query, ready to be called. */
export type Endpoint = {
  readonly definition: Definition;
  readonly query: PreparedQuery;
  readonly parameters: ParameterSchema;
};

/** Everything wrong with the definition files: one problem a file, each with its place. */
export class CatalogueError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n\n'));
    this.name = 'CatalogueError';
    this.problems = problems;
  }
}

type Preparing = Pick<QueryEngine, 'prepare'>;

const FILE_START: Position = { line: 1, column: 1 };

type Conflict = { readonly key: 'id' | 'name' | 'alias'; readonly reason: string };

/** The saved queries by id, name and alias: no two share one of them. */
export class Catalogue {
  readonly #byId = new Map<string, Endpoint>();
  readonly #byName = new Map<string, Endpoint>();

  /**
   * What another endpoint has of this one's id, name and aliases, and in which of the three; then it
   * must not be added.
   */
  findConflict({ id, name, aliases }: Definition): Conflict | undefined {
    const sameId = this.#byId.get(id);
    if (sameId !== undefined) {
      return { key: 'id', reason: `id ${id} is that of ${sameId.definition.name} already` };
    }
    const taken = [name, ...aliases].find((other) => this.#byName.has(other));
    if (taken === undefined) return undefined;
    const ownerId = this.#byName.get(taken)!.definition.id;
    const reason = `name ${taken} is one of the endpoint ${ownerId} already`;
    return { key: taken === name ? 'name' : 'alias', reason };
  }

  add(endpoint: Endpoint): void {
    const { definition } = endpoint;
    assert(this.findConflict(definition) === undefined, 'an endpoint has its own id and names');
    this.#byId.set(definition.id, endpoint);
    for (const key of [definition.name, ...definition.aliases]) this.#byName.set(key, endpoint);
  }

  /** By id when the text is a whole UUID, else by name or alias. */
  find(idOrName: string): Endpoint | undefined {
    return isUuid(idOrName) ? this.#byId.get(idOrName.toLowerCase()) : this.#byName.get(idOrName);
  }

  /** In the order they were added. */
  list(): readonly Endpoint[] {
    return [...this.#byId.values()];
  }
}

/**
 * Reads and binds the built-in definitions and those of `folder`, as they are in the profile.
 *
 * @throws CatalogueError with the first problem of every file.
 */
export async function loadCatalogue(options: {
  readonly folder: string | undefined;
  /** `default` unless given. */
  readonly profile?: ProfileName | undefined;
  readonly engine: Preparing;
}): Promise<Catalogue> {
  const { engine, profile = 'default' } = options;
  const catalogue = new Catalogue();
  const problems: string[] = [];
  const files = await listFiles(builtInFolder());
  if (options.folder !== undefined) {
    try {
      files.push(...(await listFiles(options.folder)));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      problems.push(`ENDPOINTS_DIR must be a folder that can be read; got ${reason}`);
    }
  }
  if (files.length > DEFINITIONS_MAX) {
    throw new CatalogueError([
      `there may be at most ${DEFINITIONS_MAX} definition files; got ${files.length}`,
    ]);
  }
  for (const file of files) {
    try {
      addFile(catalogue, { file, fileText: await readText(file) }, { engine, profile });
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw new CatalogueError(problems);
  return catalogue;
}

async function listFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => join(folder, name));
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((cause: unknown): never => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DefinitionError(file, '', FILE_START, `a definition must be readable; got ${reason}`);
  });
  if (bytes.length > DEFINITION_BYTES_MAX) {
    const reason = `a definition has at most ${DEFINITION_BYTES_MAX} bytes; got ${bytes.length}`;
    throw new DefinitionError(file, '', FILE_START, reason);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new DefinitionError(file, '', FILE_START, 'a definition must be UTF-8 text');
  }
}

/** @throws DefinitionError */
function addFile(
  catalogue: Catalogue,
  { file, fileText }: { readonly file: string; readonly fileText: string },
  { profile, engine }: { readonly profile: ProfileName; readonly engine: Preparing },
): void {
  const { definition, headerLineCount, positionOf } = parseDefinitionFile(file, fileText, profile);
  const refuse: Refuse = (position, reason) => {
    throw new DefinitionError(file, fileText, position, reason);
  };
  const sqlReader = definition.parameters.find(
    ({ name, from }) => name === SQL_PARAMETER || from.includes(SQL_PARAMETER),
  );
  if (definition.isSandboxed && sqlReader !== undefined) {
    refuse(
      positionOf(sqlReader.name, 'param'),
      'no parameter may be read from sql where sandbox is enabled: a call brings its own text so',
    );
  }
  const query = prepare(definition, headerLineCount, engine, refuse);
  const used = new Set(query.bound.parameters.map((name) => name.toLowerCase()));
  for (const { name } of definition.parameters) {
    if (used.has(name.toLowerCase())) continue;
    refuse(
      positionOf(name, 'param'),
      `parameter ${name} is declared, but the statement does not use @${name}`,
    );
  }
  const conflict = catalogue.findConflict(definition);
  if (conflict !== undefined) refuse(positionOf(conflict.key), conflict.reason);
  catalogue.add({ definition, query, parameters: new ParameterSchema(definition.parameters) });
}

function prepare(
  definition: Definition,
  headerLineCount: number,
  engine: Preparing,
  refuse: Refuse,
): PreparedQuery {
  const declared = definition.parameters.map(({ name, type }) => ({ name, type: sqlTypeOf(type) }));
  try {
    return engine.prepare(definition.text, declared);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const { line, column } = error.span ?? FILE_START;
    return refuse({ line: line + headerLineCount, column }, error.message);
  }
}

/** The folder of the built-in definitions, from the sources and from `dist` alike. */
function builtInFolder(): string {
  return join(packageRoot(), 'src', 'endpoints');
}
