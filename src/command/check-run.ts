import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { QueryError } from '../../engine/columns.ts';
import { parseQuery, prepareInPieces, prepareQuery } from '../../engine/index.ts';
import { SourceDirectory } from '../../ingest/source.ts';
import { CallerQueries } from '../call/caller-queries.ts';
import { findCallerSql } from '../call/caller-sql.ts';
import type { QueryEngine } from '../call/query-engine.ts';
import { readBuiltIn } from '../definition/catalogue.ts';
import { DefinitionError, FILE_START } from '../definition/definition-error.ts';
import { DEFINITION_ENDING, readDefinitionFile } from '../definition/definition-reading.ts';
import { DefinitionSet } from '../definition/definition-set.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import { warnOfClashes } from '../definition/name-clash.ts';
import { readSaved, type SavedDefinition } from '../definition/saved-definition.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import { ScratchStore } from '../store/scratch-store.ts';
import {
  EVENTS_ENDING,
  EXPECT_ENDING,
  type Expectation,
  type ExpectedCall,
  FixtureError,
  readEvents,
  readExpectation,
} from './check-fixture.ts';

/** A row that differs from the expected one. If one side has more rows, the other is missing. */
export type RowDifference = {
  readonly row: number;
  readonly expected?: unknown;
  readonly got?: unknown;
};

/** A call whose result differs from its file. */
export type CallDifference = {
  readonly file: string;
  readonly endpoint: string;
  /** The number of the call in the file, from 1. */
  readonly call: number;
  readonly parameters: Readonly<Record<string, string>>;
  readonly rows: readonly RowDifference[];
  /** The expected and the actual result, if either is a failure. */
  readonly failure?: { readonly expected: string; readonly got: string };
};

/** The result of checking a folder. */
export type FolderCheck = {
  readonly definitionCount: number;
  readonly callCount: number;
  /** Sentences about invalid files. */
  readonly problems: readonly string[];
  /** Sentences about definitions that are right but that a query cannot use. */
  readonly warnings: readonly string[];
  readonly differences: readonly CallDifference[];
};

/** Binds definitions and callers' texts over them. */
type Engine = Pick<QueryEngine, 'prepare' | 'prepareInPieces'>;

/**
 * Checks the definitions of a folder together with the built-in ones, and makes the calls in the
 * files beside them, over the events in these. `onProgress` gets the number of files done and of
 * all. Rejects when the folder cannot be read.
 */
export async function checkFolder(
  folder: string,
  settings: Settings,
  onProgress: (fileCount: number, fileCountAll: number) => void = () => {},
): Promise<FolderCheck> {
  const names = (await readdir(folder)).sort();
  const problems: string[] = [];
  const saved = await readDefinitions(folder, names, settings, problems);
  const { sources } = new SourceDirectory(settings.sources);
  const engine: Engine = {
    prepare: (text, parameters, within, views) =>
      prepareQuery(text, { sources, parameters, within, views }),
    prepareInPieces: (text, parameters, within, views) =>
      prepareInPieces(text, { sources, parameters, within, views }),
  };
  const builtIn = await readBuiltIn(settings.profile);
  const set = new DefinitionSet([...builtIn, ...saved.values()], { engine });
  problems.push(...set.problems.flatMap(({ error }) => listMessages(error)));
  const differences: CallDifference[] = [];
  let callCount = 0;
  const expectations = names.filter((each) => each.endsWith(EXPECT_ENDING));
  for (const [index, name] of expectations.entries()) {
    onProgress(index, expectations.length);
    const stem = name.slice(0, -EXPECT_ENDING.length);
    const definition = saved.get(stem + DEFINITION_ENDING);
    const endpoint = definition && set.findEndpoint(definition);
    if (endpoint === undefined) continue;
    try {
      const fixture = new Fixture({ folder, stem, names, endpoint, settings, engine });
      const found = await fixture.run();
      callCount += found.callCount;
      differences.push(...found.differences);
    } catch (error) {
      if (!(error instanceof FixtureError)) throw error;
      problems.push(error.message);
    }
  }
  problems.push(...strayFixtures(folder, names));
  if (!names.some((name) => name.endsWith(DEFINITION_ENDING))) {
    problems.push(`${folder} has no definitions: no file ends in ${DEFINITION_ENDING}`);
  }
  const warnings = Array.from(saved, ([name, { definition }]) =>
    warnOfClashes(definition, sources).map((warning) => `${join(folder, name)}: ${warning}`),
  ).flat();
  return { definitionCount: saved.size, callCount, problems, warnings, differences };
}

/** Reads the definitions by file name, and notes those that do not parse. */
async function readDefinitions(
  folder: string,
  names: readonly string[],
  { profile }: Settings,
  problems: string[],
): Promise<ReadonlyMap<string, SavedDefinition>> {
  const saved = new Map<string, SavedDefinition>();
  for (const name of names.filter((each) => each.endsWith(DEFINITION_ENDING))) {
    const file = join(folder, name);
    let fileText = '';
    try {
      fileText = await readDefinitionFile(file);
      saved.set(name, readSaved({ origin: 'folder', file, fileText }, profile));
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error;
      const ofStatement = fileText === '' ? undefined : syntaxError(file, fileText);
      problems.push(
        ...listMessages(error),
        ...(ofStatement === undefined ? [] : [ofStatement.message]),
      );
    }
  }
  return saved;
}

/** All problems of a file. */
function listMessages(error: DefinitionError): readonly string[] {
  return [error, ...error.further].map(({ message }) => message);
}

/**
 * A syntax error of the statement below an invalid header. Without a header nothing can be bound.
 */
function syntaxError(file: string, fileText: string): DefinitionError | undefined {
  const lines = fileText.split('\n');
  const start = lines.findIndex((line) => line.trim() !== '' && !line.startsWith('--'));
  if (start === -1) return undefined;
  try {
    parseQuery(lines.slice(start).join('\n'));
    return undefined;
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const { line, column } = error.span ?? FILE_START;
    return new DefinitionError(file, fileText, { line: line + start, column }, error.message);
  }
}

/** Finds files that belong to no definition and would be ignored, mostly after a typing error. */
function strayFixtures(folder: string, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const ending = [EVENTS_ENDING, EXPECT_ENDING].find((each) => name.endsWith(each));
    if (ending === undefined) return [];
    const stem = name.slice(0, -ending.length);
    const needed = [
      stem + DEFINITION_ENDING,
      ...(ending === EVENTS_ENDING ? [stem + EXPECT_ENDING] : []),
    ];
    const missing = needed.filter((each) => !names.includes(each));
    return missing.map((each) => `${join(folder, name)}: there is no ${each} beside it`);
  });
}

/** The files of one definition, with their calls. */
class Fixture {
  readonly #path: string;
  readonly #hasEvents: boolean;
  readonly #endpoint: Endpoint;
  readonly #settings: Settings;
  readonly #callerQueries: CallerQueries;

  constructor(options: {
    readonly folder: string;
    readonly stem: string;
    readonly names: readonly string[];
    readonly endpoint: Endpoint;
    readonly settings: Settings;
    readonly engine: Engine;
  }) {
    this.#path = join(options.folder, options.stem);
    this.#hasEvents = options.names.includes(options.stem + EVENTS_ENDING);
    this.#endpoint = options.endpoint;
    this.#settings = options.settings;
    this.#callerQueries = new CallerQueries(options.engine);
  }

  /** @throws FixtureError when a file is invalid, with its name. */
  async run(): Promise<Pick<FolderCheck, 'callCount' | 'differences'>> {
    const file = this.#path + EXPECT_ENDING;
    const expectation = await named(file, () => readExpectation(file));
    const store = new ScratchStore(this.#settings);
    try {
      if (this.#hasEvents) await this.#postEvents(store, expectation);
      const differences: CallDifference[] = [];
      for (const [index, expected] of expectation.calls.entries()) {
        const got = await this.#call(store, expected, expectation.nowUs);
        const found = findDifference(expected, got);
        if (found === undefined) continue;
        const { parameters } = expected;
        const endpoint = this.#endpoint.definition.name;
        differences.push({ file: basename(file), endpoint, call: index + 1, parameters, ...found });
      }
      return { callCount: expectation.calls.length, differences };
    } finally {
      await store.close();
    }
  }

  async #postEvents(store: ScratchStore, { nowUs }: Expectation): Promise<void> {
    const file = this.#path + EVENTS_ENDING;
    await named(file, async () => {
      for (const { line, source: name, event } of await readEvents(file)) {
        const source = store.sources.findByName(name);
        if (source === undefined) {
          const known = store.sources.sources.map((each) => each.name).join(', ');
          throw new FixtureError(
            `line ${line}: there is no source ${echo(name)}; there are ${known}`,
          );
        }
        const refusal = await store.post(source, event, nowUs);
        if (refusal === undefined) continue;
        throw new FixtureError(`line ${line}: ${refusal.replace(/^event 0: /, '')}`);
      }
    });
  }

  /** Makes a call. Returns the rows, or the code and message of the failure. */
  async #call(
    store: ScratchStore,
    { parameters }: ExpectedCall,
    nowUs: number,
  ): Promise<readonly unknown[] | ServiceError | QueryError> {
    const { definition, parameters: schema, query } = this.#endpoint;
    const texts = new Map(
      Object.entries(parameters).map(([name, text]) => [name, [text]] as const),
    );
    try {
      const values = schema.parse(texts);
      const sql = findCallerSql(texts, this.#endpoint);
      const asked = sql === undefined ? query : this.#callerQueries.prepare(this.#endpoint, sql);
      const options = { parameters: values, nowUs, rowsMax: definition.rowsMax };
      return JSON.parse(await store.run(asked, options)) as readonly unknown[];
    } catch (error) {
      if (error instanceof ServiceError || error instanceof QueryError) return error;
      throw error;
    }
  }
}

/** Puts the name of the file before an error's message. */
async function named<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FixtureError
      ? new FixtureError(`${file}: ${error.message}`, error)
      : error;
  }
}

function findDifference(
  { rows, error }: ExpectedCall,
  got: readonly unknown[] | ServiceError | QueryError,
): Pick<CallDifference, 'rows' | 'failure'> | undefined {
  if (got instanceof Error) {
    if (got.code === error) return undefined;
    const expected = error ?? rowsText(rows?.length ?? 0);
    return { rows: [], failure: { expected, got: `${got.code}: ${got.message}` } };
  }
  if (rows === undefined) {
    return { rows: [], failure: { expected: error ?? '', got: rowsText(got.length) } };
  }
  const differences: RowDifference[] = [];
  for (let row = 0; row < Math.max(rows.length, got.length); row++) {
    if (row < Math.min(rows.length, got.length) && isDeepStrictEqual(rows[row], got[row])) continue;
    differences.push({ row, expected: rows[row], got: got[row] });
  }
  return differences.length === 0 ? undefined : { rows: differences };
}

function rowsText(size: number): string {
  return `${size} ${size === 1 ? 'row' : 'rows'}`;
}
