import { basename } from 'node:path';
import { hint, must, QueryError } from '../../engine/columns.ts';
import type { PreparedQuery, View, Views } from '../../engine/index.ts';
import { parseSource } from '../../ingest/source.ts';
import { SQL_PARAMETER } from '../call/caller-sql.ts';
import type { QueryEngine } from '../call/query-engine.ts';
import { DEFINITIONS_MAX, PARAMETERS_MAX } from '../limits.ts';
import type { ParameterDefinition } from './definition.ts';
import { DefinitionError, FILE_START } from './definition-error.ts';
import type { Endpoint } from './endpoint.ts';
import { toSqlType } from './parameter-value.ts';
import { ParameterSchema } from './parameters.ts';
import { problemIn, type SavedDefinition } from './saved-definition.ts';

export type Preparing = Pick<QueryEngine, 'prepare'>;

/** A definition that cannot be called, and the reason. */
export type UnboundDefinition = {
  readonly saved: SavedDefinition;
  readonly error: DefinitionError;
};

/** The result of binding one definition, and what it depends on. */
type Outcome = {
  readonly result: Endpoint | DefinitionError;
  /** Each name that was looked up, at any depth, and the definition found. */
  readonly asked: ReadonlyMap<string, SavedDefinition | undefined>;
};

/** A definition that others extend. */
type ExtendedEndpoint = {
  /** The definition and those that extend it, each bound alone. */
  readonly parts: readonly Endpoint[];
  readonly endpoint: Endpoint;
};

/**
 * Definitions that are in force together, bound to each other. A set is immutable. The next set is
 * made `after` it, and binds only definitions that failed before or whose dependencies changed.
 */
export class DefinitionSet {
  /** In the given order, without definitions that cannot be called. */
  readonly endpoints: readonly Endpoint[];
  readonly problems: readonly UnboundDefinition[];
  readonly #engine: Preparing;
  readonly #byName = new Map<string, SavedDefinition>();
  readonly #byId = new Map<string, SavedDefinition>();
  /** The outcome of each definition alone. */
  readonly #outcomes = new Map<SavedDefinition, Outcome>();
  /** The outcome of each definition with what others add to it. */
  readonly #results = new Map<SavedDefinition, Endpoint | DefinitionError>();
  readonly #extended = new Map<SavedDefinition, ExtendedEndpoint>();
  readonly #before: DefinitionSet | undefined;

  /** If two definitions share an id or a name, the first keeps it and the second is a problem. */
  constructor(
    saved: readonly SavedDefinition[],
    options: { readonly engine: Preparing; readonly after?: DefinitionSet },
  ) {
    this.#engine = options.engine;
    this.#before = options.after;
    const refused = new Map<SavedDefinition, DefinitionError>();
    for (const each of saved) {
      const error = this.#findConflict(each);
      if (error === undefined) this.#add(each);
      else refused.set(each, error);
    }
    for (const each of saved) {
      this.#results.set(each, refused.get(each) ?? this.#getOutcome(each).result);
    }
    this.#extend(saved);
    const endpoints: Endpoint[] = [];
    const problems: UnboundDefinition[] = [];
    for (const [each, result] of this.#results) {
      if (result instanceof DefinitionError) problems.push({ saved: each, error: result });
      else endpoints.push(result);
    }
    this.endpoints = endpoints;
    this.problems = problems;
    // Drop the reference, or each set would retain all sets before it.
    this.#before = undefined;
  }

  /** The endpoint of a definition; `undefined` if it cannot be called or is not part of the set. */
  findEndpoint(saved: SavedDefinition): Endpoint | undefined {
    const result = this.#results.get(saved);
    return result instanceof DefinitionError ? undefined : result;
  }

  /** Offers the tables of extending definitions to the callers of those they extend. */
  #extend(saved: readonly SavedDefinition[]): void {
    const parts = new Map<SavedDefinition, Endpoint[]>();
    for (const each of saved) {
      const { extended } = each.definition;
      const own = this.#results.get(each);
      if (extended === undefined || !isEndpoint(own)) continue;
      const target = this.#byName.get(extended);
      const base = target && this.#getOutcome(target).result;
      if (target === undefined) {
        const near = hint(extended, this.#byName.keys());
        this.#results.set(each, extensionError(each, `${NO_DEFINITION}${near}`));
      }
      if (target === undefined || !isEndpoint(base)) continue;
      const known = parts.get(target) ?? [base];
      const reason = extensionProblem(own, known);
      if (reason === undefined) parts.set(target, [...known, own]);
      else this.#results.set(each, extensionError(each, reason));
    }
    for (const [target, ofTarget] of parts) {
      const before = this.#before === undefined ? undefined : this.#before.#extended.get(target);
      const isSame = before !== undefined && isSameList(before.parts, ofTarget);
      const made = isSame ? before : { parts: ofTarget, endpoint: extendedEndpoint(ofTarget) };
      this.#extended.set(target, made);
      if (isEndpoint(this.#results.get(target))) this.#results.set(target, made.endpoint);
    }
  }

  #findConflict(saved: SavedDefinition): DefinitionError | undefined {
    const { id, name, aliases } = saved.definition;
    if (this.#byId.size >= DEFINITIONS_MAX) {
      const reason = `there may be at most ${DEFINITIONS_MAX} definitions; this is one more`;
      return problemIn(saved, FILE_START, reason, 'limit');
    }
    const sameId = this.#byId.get(id);
    if (sameId !== undefined) {
      const reason = `id ${id} is that of ${sameId.definition.name} already, ${formatPlace(sameId)}`;
      return problemIn(saved, saved.getPosition('id'), reason, 'conflict');
    }
    const taken = [name, ...aliases].find((other) => this.#byName.has(other));
    if (taken === undefined) return undefined;
    const owner = must(this.#byName.get(taken));
    const reason = `name ${taken} is one of the endpoint ${owner.definition.id} already, ${formatPlace(owner)}`;
    const position = saved.getPosition(taken === name ? 'name' : 'alias');
    return problemIn(saved, position, reason, 'conflict');
  }

  #add(saved: SavedDefinition): void {
    const { id, name, aliases } = saved.definition;
    this.#byId.set(id, saved);
    for (const key of [name, ...aliases]) this.#byName.set(key, saved);
  }

  /**
   * Binds a definition once. The recursion ends, because a definition that selects from itself is
   * refused before its views are looked up.
   */
  #getOutcome(saved: SavedDefinition): Outcome {
    const known = this.#outcomes.get(saved);
    if (known !== undefined) return known;
    const before = this.#before === undefined ? undefined : this.#before.#outcomes.get(saved);
    // A definition that failed may bind now, because a source that it names may exist now.
    const isSame =
      before !== undefined &&
      isEndpoint(before.result) &&
      [...before.asked].every(([name, was]) => this.#byName.get(name) === was);
    const outcome = isSame ? before : this.#bind(saved);
    this.#outcomes.set(saved, outcome);
    return outcome;
  }

  #bind(saved: SavedDefinition): Outcome {
    const asked = new Map<string, SavedDefinition | undefined>();
    const views: Views = {
      name: saved.definition.name,
      find: (name) => {
        const found = this.#byName.get(name);
        asked.set(name, found);
        return found && toView(found);
      },
      names: () => [...this.#byName.keys()],
    };
    try {
      return { result: this.#endpoint(saved, views, asked), asked };
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error;
      return { result: error, asked };
    }
  }

  /** @throws DefinitionError */
  #endpoint(
    saved: SavedDefinition,
    views: Views,
    asked: ReadonlyMap<string, SavedDefinition | undefined>,
  ): Endpoint {
    const { definition, origin, fileText, namesProfile } = saved;
    const query = this.#prepare(saved, views);
    const used = query.bound.views.map((name) => must(this.#byName.get(name)));
    const declared = mergeParameters(
      saved,
      used.map((view) => ({ view, declared: this.#declaredBy(view, saved) })),
    );
    checkParameters(saved, query, declared);
    return {
      ...{ definition, origin, fileText, namesProfile, query, declared },
      callerTables: [query.commonTables],
      parameters: new ParameterSchema(declared),
      views: createViews(definition.name, asked),
    };
  }

  /** @throws DefinitionError */
  #prepare(saved: SavedDefinition, views: Views): PreparedQuery {
    const { definition, headerLineCount } = saved;
    try {
      return this.#engine.prepare(definition.text, typed(definition.parameters), undefined, views);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      const { line, column } = error.span ?? FILE_START;
      const position = { line: line + headerLineCount, column };
      const { unknownTable = '' } = error;
      const before = this.#before === undefined ? NO_VIEWS : this.#before.#byName;
      const wasView = before.has(unknownTable);
      const reason = `${error.message}${wasView ? '' : adviseSource(unknownTable)}`;
      throw problemIn(saved, position, reason, 'statement');
    }
  }

  /**
   * The parameters of a definition that `saved` selects from.
   *
   * @throws DefinitionError
   */
  #declaredBy(view: SavedDefinition, saved: SavedDefinition): readonly ParameterDefinition[] {
    const { result } = this.#getOutcome(view);
    if (!(result instanceof DefinitionError)) return result.declared;
    const { name } = view.definition;
    throw problemIn(saved, statementStart(saved), `${name} cannot be called: ${result.reason}`);
  }
}

const NO_VIEWS: ReadonlyMap<string, SavedDefinition> = new Map();

const NO_DEFINITION = 'there is no definition of that name';

function isEndpoint(result: Endpoint | DefinitionError | undefined): result is Endpoint {
  return result !== undefined && !(result instanceof DefinitionError);
}

function isSameList(left: readonly Endpoint[], right: readonly Endpoint[]): boolean {
  return left.length === right.length && left.every((each, index) => each === right[index]);
}

function extensionError(saved: SavedDefinition, reason: string): DefinitionError {
  const { extended = '' } = saved.definition;
  return problemIn(saved, saved.getPosition('extends'), `it cannot extend ${extended}: ${reason}`);
}

/**
 * Why a definition cannot extend the first of these, which the others extend already; `undefined`
 * if it can.
 */
function extensionProblem(
  { query, declared }: Endpoint,
  known: readonly Endpoint[],
): string | undefined {
  if (query.commonTables.length === 0) return 'its statement has no WITH whose tables it could add';
  const names = known.flatMap((each) => each.query.commonTables.map(({ name }) => name.text));
  const taken = new Set(names.map((name) => name.toLowerCase()));
  const twice = query.commonTables.find(({ name }) => taken.has(name.text.toLowerCase()));
  if (twice !== undefined) return `there is a table ${twice.name.text} already`;
  const given = new Map(known[0]!.declared.map(({ name, type }) => [name.toLowerCase(), type]));
  const odd = declared.find(({ name, type }) => given.get(name.toLowerCase()) !== type);
  if (odd === undefined) return undefined;
  return `calls of that give no parameter ${odd.name} of type ${odd.type}`;
}

/** The first endpoint with the tables of the others. */
function extendedEndpoint(parts: readonly Endpoint[]): Endpoint {
  const base = must(parts[0]);
  const views: Views = {
    name: base.views.name,
    find: (name) => findFirst(parts, (part) => part.views.find(name)),
    names: () => [...new Set(parts.flatMap((part) => part.views.names()))],
  };
  return { ...base, callerTables: parts.map(({ query }) => query.commonTables), views };
}

function findFirst<T>(parts: readonly Endpoint[], find: (part: Endpoint) => T | undefined) {
  for (const part of parts) {
    const found = find(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Formats where a definition comes from, as a clause. */
function formatPlace({ origin, file }: SavedDefinition): string {
  if (origin === 'built-in') return 'which is built in';
  return origin === 'api' ? 'which was made over HTTP' : `of the file ${basename(file)}`;
}

/** A definition as a text that selects from it sees it. */
export function toView({
  definition: { name, text, parameters },
}: Pick<SavedDefinition, 'definition'>): View {
  return { name, text, parameters: typed(parameters) };
}

/**
 * Limits a later binding of a text to the definitions that were looked up when it was first bound.
 */
function createViews(name: string, asked: ReadonlyMap<string, SavedDefinition | undefined>): Views {
  const found = new Map<string, View>();
  for (const [key, saved] of asked) if (saved !== undefined) found.set(key, toView(saved));
  return { name, find: (key) => found.get(key), names: () => [...found.keys()] };
}

function typed(parameters: readonly ParameterDefinition[]): View['parameters'] {
  return parameters.map(({ name, type }) => ({ name, type: toSqlType(type) }));
}

/**
 * The end of a message about an unknown table that may be meant as a source. Only who may change
 * definitions sees it, and may make sources, too.
 */
function adviseSource(table: string): string {
  if (!/[.-]/.test(table)) return '';
  if (typeof parseSource(table, 'project') === 'string') return '';
  return `; if it is a source, make it with weir sources add ${table} or PUT /api/sources/${table}, or name it in SOURCES`;
}

/**
 * The definition's own parameters, followed by those of the definitions it selects from. Its own
 * declarations take precedence; all other declarations of one parameter must be equal.
 */
function mergeParameters(
  saved: SavedDefinition,
  views: readonly {
    readonly view: SavedDefinition;
    readonly declared: readonly ParameterDefinition[];
  }[],
): readonly ParameterDefinition[] {
  const merged = new Map(
    saved.definition.parameters.map((each) => [each.name.toLowerCase(), { each, from: '' }]),
  );
  for (const { view, declared } of views) {
    const from = view.definition.name;
    for (const each of declared) {
      const key = each.name.toLowerCase();
      const known = merged.get(key);
      if (known === undefined) merged.set(key, { each, from });
      else if (known.from !== '' && JSON.stringify(known.each) !== JSON.stringify(each)) {
        const reason = `parameter ${each.name} is declared in one way by ${known.from} and in another by ${from}; it must be declared here, too`;
        throw problemIn(saved, statementStart(saved), reason);
      }
    }
  }
  return [...merged.values()].map(({ each }) => each);
}

function checkParameters(
  saved: SavedDefinition,
  query: PreparedQuery,
  declared: readonly ParameterDefinition[],
): void {
  const { definition, getPosition } = saved;
  const reader = declared.find(
    ({ name, from }) => name === SQL_PARAMETER || from.includes(SQL_PARAMETER),
  );
  if (definition.isSandboxed && reader !== undefined) {
    const reason =
      'no parameter may be read from sql if sandbox is enabled: callers send their own SQL as sql';
    throw problemIn(saved, getPosition(reader.name, 'param'), reason);
  }
  const used = new Set(query.bound.parameters.map((name) => name.toLowerCase()));
  const unused = definition.parameters.filter(({ name }) => !used.has(name.toLowerCase()));
  const [first, ...others] = unused.map(({ name }) => {
    const reason = `parameter ${name} is declared, but the statement does not use @${name}`;
    return problemIn(saved, getPosition(name, 'param'), reason);
  });
  if (first !== undefined) {
    first.further.push(...others);
    throw first;
  }
  if (declared.length <= PARAMETERS_MAX) return;
  const reason = `a definition has at most ${PARAMETERS_MAX} parameters, those it selects from included; got ${declared.length}`;
  throw problemIn(saved, statementStart(saved), reason);
}

function statementStart({ headerLineCount }: SavedDefinition): { line: number; column: number } {
  return { line: headerLineCount + 1, column: 1 };
}
