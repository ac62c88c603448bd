import type { Question } from '../peers/question.ts';
import { LargeProjects } from './projects.ts';

/** How many rows a project has, in comparison with others. */
export type Rank = 'busiest' | 'middling' | 'rare' | 'three rows';

/** Calls that are measured together. */
export type CallGroup = {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly rank: Rank;
  readonly questions: readonly Question[];
};

export type Endpoint = 'logs.all' | 'invocation-stats' | 'api-counts';

/** The queries, each with the window that a page of a project shows first. */
const ENDPOINTS: ReadonlyMap<Endpoint, (project: string) => Question> = new Map<
  Endpoint,
  (project: string) => Question
>([
  ['logs.all', (project) => ({ kind: 'logs-all', project })],
  ['invocation-stats', (project) => ({ kind: 'invocation-stats', project, interval: '7day' })],
  ['api-counts', (project) => ({ kind: 'api-counts', expression: project, interval: 'daily' })],
]);

const MIDDLING_RANK = 500;
const WARM_UP_RANK = 1_000;
const WARM_UP_PROJECTS = 300;

/** What is asked of a store. Each project is asked for in one call alone. */
export class LargeCalls {
  readonly projects: LargeProjects;
  /** By endpoint and rank. */
  readonly first: readonly CallGroup[];
  /** The busiest project in all windows: each is asked for several times. */
  readonly busiest: readonly CallGroup[];
  /** Of projects that nothing else is asked of. */
  readonly warmUp: readonly Question[];

  /** `callCount`: projects of each group in `first`; `repeatCount`: calls of each in `busiest`. */
  constructor(of: { readonly callCount: number; readonly repeatCount: number }) {
    const askedCount = ENDPOINTS.size * of.callCount;
    const projects = new LargeProjects(askedCount);
    this.projects = projects;
    const refs = projects.ranked.map(({ ref }) => ref);
    const byRank: ReadonlyMap<Rank, readonly string[]> = new Map([
      ['busiest', refs.slice(0, askedCount)],
      ['middling', refs.slice(MIDDLING_RANK, MIDDLING_RANK + askedCount)],
      ['rare', refs.slice(-askedCount)],
      ['three rows', projects.tiny.map(({ ref }) => ref)],
    ]);
    this.first = Array.from(ENDPOINTS).flatMap(([endpoint, questionOf], index) =>
      Array.from(byRank, ([rank, ranked]) => ({
        ...{ name: `${endpoint}, ${rank}`, endpoint, rank },
        questions: ranked
          .filter((_, place) => place % ENDPOINTS.size === index)
          .map((ref) => questionOf(ref)),
      })),
    );
    this.busiest = windowsOf(refs[0]!).map(({ name, endpoint, question }) => ({
      ...{ name, endpoint, rank: 'busiest' },
      questions: Array.from({ length: of.repeatCount }, () => question),
    }));
    this.warmUp = refs
      .slice(WARM_UP_RANK, WARM_UP_RANK + WARM_UP_PROJECTS)
      .flatMap((ref) => Array.from(ENDPOINTS.values(), (questionOf) => questionOf(ref)));
  }
}

function windowsOf(
  ref: string,
): readonly { readonly name: string; readonly endpoint: Endpoint; readonly question: Question }[] {
  return [
    { name: 'logs.all', endpoint: 'logs.all', question: { kind: 'logs-all', project: ref } },
    ...(['5min', '15min', '1hr', '1day', '7day'] as const).map((interval) => ({
      name: `invocation-stats ${interval}`,
      endpoint: 'invocation-stats' as const,
      question: { kind: 'invocation-stats', project: ref, interval } as const,
    })),
    ...(['minutely', 'hourly', 'daily'] as const).map((interval) => ({
      name: `api-counts ${interval}`,
      endpoint: 'api-counts' as const,
      question: { kind: 'api-counts', expression: ref, interval } as const,
    })),
  ];
}
