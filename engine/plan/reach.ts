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

/** A scan, as far as it is looked at here. */
type ReachingScan = ScannedProjects & { readonly source: string };

/**
 * @throws QueryError when a plan would read a source that is out of reach, or asks for projects that are and for
 * nothing else: an empty answer would look as if there were no events.
 */
export function checkReach(scans: readonly ReachingScan[], reach: Reach): void {
  checkSources(scans, reach);
  const { projects } = reach;
  if (projects === 'all' || scans.length === 0) return;
  if (scans.some((scan) => scan.projectKey === undefined || scan.reach?.length !== 0)) return;
  const asked = [...new Set(scans.map(({ projectKey }) => JSON.stringify(projectKey)))];
  const own = projects.map((project) => JSON.stringify(project));
  throw new QueryError(
    'out_of_reach',
    `the query asks for the project ${asked.join(', ')}; its caller may read ${own.join(', ') || 'none'}`,
  );
}

function checkSources(scans: readonly { readonly source: string }[], { sources }: Reach): void {
  if (sources === 'all') return;
  if (scans.every(({ source }) => sources.includes(source))) return;
  // The query is often not its caller's own text: the names of other sources in it are not for the caller.
  throw new QueryError(
    'out_of_reach',
    `the query reads a source that its caller may not read; its caller may read ${sources.join(', ') || 'no source'}`,
  );
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
