import { QueryError } from '../query-error.ts';

/**
 * What a run may read, whatever its text asks for. A row is in reach when it is of a source in reach and has a
 * project key in reach. With a list of projects, rows of mixed projects and rows of none are out of reach.
 */
export type Reach = {
  /** Project keys, none twice. */
  readonly projects: 'all' | readonly string[];
  /** Names of sources. */
  readonly sources: 'all' | readonly string[];
};

export const EVERYTHING: Reach = { projects: 'all', sources: 'all' };

/** Of a plan that reads no source. */
export const NOTHING: Reach = { projects: [], sources: [] };

/** Which rows of its source a scan reads, by their project keys. */
export type ScannedProjects = {
  /** Only rows that may be of this project, as the text says; `undefined`: of any. */
  readonly projectKey?: string | undefined;
  /** Only rows known to have one of these keys, as the reach says; `undefined`: all rows. */
  readonly reach: readonly string[] | undefined;
};

/**
 * @throws QueryError when a plan would read a source that is out of reach: an empty answer would look like a source
 * without events.
 */
export function checkSources(
  scans: readonly { readonly source: string }[],
  { sources }: Reach,
): void {
  if (sources === 'all') return;
  for (const { source } of scans) {
    if (sources.includes(source)) continue;
    throw new QueryError(
      'out_of_reach',
      `the query reads ${source}; its caller may read ${sources.join(', ') || 'no source'}`,
    );
  }
}

/** What is left to a scan that asks for `projectKey`. One project in reach is one asked for. */
export function withinReach(projectKey: string | undefined, { projects }: Reach): ScannedProjects {
  if (projects === 'all') return { projectKey, reach: undefined };
  if (projectKey !== undefined) {
    return { projectKey, reach: projects.includes(projectKey) ? [projectKey] : [] };
  }
  return { projectKey: projects.length === 1 ? projects[0] : undefined, reach: projects };
}

/** The same text for the same reach, another one for every other. */
export function reachText({ projects, sources }: Reach): string {
  return `${listText(projects)} ${listText(sources)}`;
}

/** As JSON: a name may hold what looks like the next. */
function listText(names: 'all' | readonly string[]): string {
  return names === 'all' ? names : JSON.stringify([...names].sort());
}
