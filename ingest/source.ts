import { assert } from '../engine/columns.ts';
import { SOURCE_NAME_LENGTH_MAX } from './limits.ts';
import { nameId } from './name-id.ts';

/** A named log stream. */
export type Source = {
  readonly name: string;
  /** A lower-case UUID that is derived from the name. */
  readonly id: string;
  /** The field that names an event's project: `['project']`, or a path that begins with `metadata`. */
  readonly projectPath: readonly string[];
};

const BUILT_IN: readonly (readonly [name: string, projectRule: string])[] = [
  ['cloudflare.logs.prod', 'project'],
  ['postgres.logs', 'project'],
  ['deno-relay-logs', 'metadata.project_ref'],
  ['deno-subhosting-events', 'metadata.project_ref'],
  ['gotrue.logs.prod', 'project'],
  ['realtime.logs.prod', 'metadata.project'],
  ['storage.logs.prod.2', 'metadata.project'],
  ['postgREST.logs.prod', 'project'],
  ['pgbouncer.logs.prod', 'project'],
];

/** The namespace of source ids. Changing it changes all ids. */
const NAMESPACE = Buffer.from('b6f1d5d2c0a94d0e9a3c7f5e21084c6b', 'hex');

/** The sources that every installation has. */
export const BUILT_IN_SOURCES: readonly Source[] = BUILT_IN.map(([name, rule]) =>
  createSource(name, rule),
);

/**
 * The sources a setting adds: names between commas, each with an optional project rule behind a
 * colon (`edge.logs:metadata.project`); without one, the rule is `project`. `errors` says what is
 * wrong with each invalid entry.
 */
export function sourcesFrom(settingText: string): { sources: Source[]; errors: string[] } {
  const sources: Source[] = [];
  const errors: string[] = [];
  const taken = new Set(BUILT_IN_SOURCES.map((source) => source.name));
  for (const entry of settingText.split(',')) {
    const trimmed = entry.trim();
    if (trimmed === '') continue;
    const colon = trimmed.indexOf(':');
    const name = colon < 0 ? trimmed : trimmed.slice(0, colon).trim();
    const rule = colon < 0 ? 'project' : trimmed.slice(colon + 1).trim();
    const source = parseSource(name, rule);
    if (typeof source === 'string') errors.push(source);
    else if (taken.has(name)) errors.push(`a source name must be new; "${name}" is taken`);
    else {
      taken.add(name);
      sources.push(source);
    }
  }
  return { sources, errors };
}

/** The source of this name and this project rule, `project` or `metadata.…`; a sentence where there can be none. */
export function parseSource(name: string, rule: string): Source | string {
  return nameError(name) ?? ruleError(name, rule) ?? createSource(name, rule);
}

/** Where events of a source name their project, as it is written. */
export function formatProjectRule({ projectPath }: Source): string {
  return projectPath.join('.');
}

function nameError(name: string): string | undefined {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    return `a source name must be letters, digits, dots, hyphens and underscores, the first a letter or digit; got ${JSON.stringify(name)}`;
  }
  if (name.length > SOURCE_NAME_LENGTH_MAX) {
    return `a source name may have ${SOURCE_NAME_LENGTH_MAX} characters; got ${name.length}: "${name.slice(0, 40)}…"`;
  }
  if (isUuid(name)) return `a source name must not look like a UUID; got "${name}"`;
  return undefined;
}

function ruleError(name: string, rule: string): string | undefined {
  if (rule === 'project' || /^metadata(\.[A-Za-z_][A-Za-z0-9_]*)+$/.test(rule)) return undefined;
  return `the project rule of source "${name}" must be "project" or a path such as "metadata.project"; got ${JSON.stringify(rule)}`;
}

function createSource(name: string, projectRule: string): Source {
  return { name, id: nameId(NAMESPACE, name), projectPath: projectRule.split('.') };
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** All sources of a process, by name and by id. One may be added; none is changed or removed. */
export class SourceDirectory {
  readonly #sources: Source[] = [];
  readonly #byName = new Map<string, Source>();
  readonly #byId = new Map<string, Source>();

  /** `added` comes from `sourcesFrom`: no name twice, none of the built-in ones. */
  constructor(added: readonly Source[]) {
    for (const source of [...BUILT_IN_SOURCES, ...added]) this.add(source);
  }

  /** One list for all time: whoever keeps it has the sources that are added later, too. */
  get sources(): readonly Source[] {
    return this.#sources;
  }

  /** Its name must be new. */
  add(source: Source): void {
    assert(!this.#byName.has(source.name), 'the name of a source is new');
    this.#sources.push(source);
    this.#byName.set(source.name, source);
    this.#byId.set(source.id, source);
  }

  /** By exact name. */
  findByName(name: string): Source | undefined {
    return this.#byName.get(name);
  }

  /** By UUID, in upper or lower case. */
  findById(id: string): Source | undefined {
    return this.#byId.get(id.toLowerCase());
  }
}
