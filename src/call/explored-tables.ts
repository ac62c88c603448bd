import { sourcesOf, type Views } from '../../engine/index.ts';
import { type Grant, mayCall } from '../access/grant.ts';
import type { Catalogue } from '../definition/catalogue.ts';
import { listNames, type ParameterDefinition } from '../definition/definition.ts';
import { toView } from '../definition/definition-set.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import type { CallerTables } from './caller-queries.ts';

/** The saved queries of one moment, by all of their names. */
type State = {
  readonly version: number;
  readonly byName: ReadonlyMap<string, Endpoint>;
  readonly views: Views;
};

/**
 * What the SQL of a token with the scope `explore` may name: the sources and saved queries in its
 * reach. A saved query is in reach when the token may call it and it reads no source out of reach.
 * What is out of reach is as good as not there.
 *
 * A token that is narrowed to endpoints has no events as they are stored, and so no sources.
 */
export class ExploredTables {
  readonly #catalogue: Pick<Catalogue, 'list' | 'version'>;
  #state: State | undefined;
  readonly #known = new WeakMap<Grant, { readonly state: State; readonly tables: CallerTables }>();

  constructor(catalogue: Pick<Catalogue, 'list' | 'version'>) {
    this.#catalogue = catalogue;
  }

  /** Returns the same object as long as nothing has changed. */
  find(grant: Grant): CallerTables {
    const state = this.#findState();
    const known = this.#known.get(grant);
    if (known?.state === state) return known.tables;
    const tables = createTables(grant, state);
    this.#known.set(grant, { state, tables });
    return tables;
  }

  /** The parameters of the saved queries that a text selects from. The first of a name counts. */
  listParameters(views: readonly string[]): readonly ParameterDefinition[] {
    const { byName } = this.#findState();
    const parameters = new Map<string, ParameterDefinition>();
    for (const each of views.flatMap((name) => byName.get(name)?.declared ?? [])) {
      const key = each.name.toLowerCase();
      if (!parameters.has(key)) parameters.set(key, each);
    }
    return [...parameters.values()];
  }

  #findState(): State {
    const { version } = this.#catalogue;
    if (this.#state?.version !== version) this.#state = createState(this.#catalogue);
    return this.#state;
  }
}

function createState(catalogue: Pick<Catalogue, 'list' | 'version'>): State {
  const byName = new Map<string, Endpoint>();
  for (const endpoint of catalogue.list()) {
    for (const name of listNames(endpoint.definition)) byName.set(name, endpoint);
  }
  const views: Views = {
    // No definition can have this name.
    name: 'this query',
    find: (name) => {
      const found = byName.get(name);
      return found && toView(found);
    },
    names: () => [...byName.keys()],
  };
  return { version: catalogue.version, byName, views };
}

function createTables(grant: Grant, { byName, views }: State): CallerTables {
  const inReach = new Set<string>();
  for (const [name, endpoint] of byName) if (isInReach(grant, endpoint)) inReach.add(name);
  return {
    declared: [],
    views,
    callerTables: {
      sources: grant.endpoints === 'all' ? grant.sources : [],
      hasView: (name) => inReach.has(name),
    },
  };
}

function isInReach(grant: Grant, { definition, query }: Endpoint): boolean {
  const { sources } = grant;
  if (!mayCall(grant, definition)) return false;
  return (
    sources === 'all' || [...sourcesOf(query.bound.plan)].every((name) => sources.includes(name))
  );
}
