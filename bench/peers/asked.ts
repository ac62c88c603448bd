import type { Project } from '../../src/demo/traffic/log-event.ts';
import type { Tenants } from '../workload/tenants.ts';
import { EXPRESSIONS } from './expressions.ts';
import type { Question } from './question.ts';

/** A question under the name that the report has for it. */
export type Asked = {
  readonly name: string;
  readonly question: Question;
  /**
   * The same of other projects about as busy, so that a first call of the question itself can be timed
   * once these have made the engine warm. None where the question is not of one project.
   */
  readonly alike: readonly Question[];
  /** The same of many, the most alike last: first calls like those timed. */
  readonly firstOfOthers: readonly Question[];
  /**
   * The same of other projects about as busy, of which nobody else asks: their first calls are timed, too, since there
   * is only one of each. None where no other project is as busy.
   */
  readonly timedFirst: readonly Question[];
  /**
   * Columns with quantiles, from which a sketch may differ a little, and the column with the number of
   * values each is of; only said of further definitions.
   */
  readonly quantileColumns?:
    | { readonly quantiles: ReadonlySet<number>; readonly count: number }
    | undefined;
};

/** A query beside the three, in a file below `definitions`, called `bench.NAME`. */
export type FurtherDefinition = Pick<Asked, 'name' | 'quantileColumns'> & {
  readonly isOfAllProjects: boolean;
};

/** How many projects next to one in rank are about as busy. */
const ALIKE_COUNT = 4;

/** So many more of these tell what first calls take. */
const TIMED_FIRST_COUNT = 8;

/** First calls before those that are timed: V8 compiles what these run once it has run some hundred times. */
const FIRST_OF_OTHERS_COUNT = 200;

export const FURTHER_DEFINITIONS: readonly FurtherDefinition[] = [
  { name: 'auth-errors', isOfAllProjects: false },
  { name: 'auth-users', isOfAllProjects: true },
  { name: 'storage-slow-paths', isOfAllProjects: false },
  { name: 'storage-bytes', isOfAllProjects: true },
  {
    name: 'function-regions',
    isOfAllProjects: true,
    quantileColumns: { quantiles: new Set([2]), count: 1 },
  },
  { name: 'edge-top-tables', isOfAllProjects: false },
  { name: 'edge-error-ratio', isOfAllProjects: true },
  { name: 'pooler-logins', isOfAllProjects: true },
  { name: 'postgres-errors', isOfAllProjects: false },
  { name: 'edge-status-classes', isOfAllProjects: true },
];

const NO_OTHERS = { alike: [], firstOfOthers: [], timedFirst: [] };

/** All that is asked, in the order of the report. */
export function askedOf(tenants: Tenants): readonly Asked[] {
  const intervals = ['7day', '1day', '1hr', '15min', '5min'] as const;
  return [
    ...intervals.flatMap((interval) =>
      ofEach(tenants, `invocation-stats ${interval}`, ({ ref: project }) => ({
        ...{ kind: 'invocation-stats', project, interval },
      })),
    ),
    ...(['daily', 'hourly', 'minutely'] as const).flatMap((interval) =>
      ofEach(tenants, `api-counts ${interval}`, ({ ref: expression }) => ({
        ...{ kind: 'api-counts', expression, interval },
      })),
    ),
    askedOfHosts(tenants),
    ...EXPRESSIONS.map(
      ({ name, expression }): Asked => ({
        name: `${EXPRESSION_NAME} ${name}`,
        question: dailyCounts(expression),
        ...NO_OTHERS,
      }),
    ),
    ...ofEach(tenants, 'logs.all', ({ ref: project }) => ({ kind: 'logs-all', project })),
    {
      ...{ name: 'quantiles of floats', question: { kind: 'float-quantiles' } },
      ...NO_OTHERS,
    },
    ...FURTHER_DEFINITIONS.map((definition) => askedOfDefinition(definition, tenants)),
  ];
}

const EXPRESSION_NAME = 'api-counts daily, expression:';

const dailyCounts = (expression: string): Question => ({
  ...{ kind: 'api-counts', expression, interval: 'daily' },
});

/** An expression that finds two projects by the hosts of their URLs: the busiest ones; others the next two, and so on. */
function askedOfHosts({ projects }: Tenants): Asked {
  const pairs = Array.from({ length: FIRST_OF_OTHERS_COUNT }, (_, index) => {
    const [one, other] = projects.slice(2 * index);
    return one && other ? [`^https://(${one.ref}|${other.ref}).*\\.supabase\\.co/`] : [];
  });
  const [question, ...others] = pairs.flat().map(dailyCounts) as [Question, ...Question[]];
  const alike = others.slice(0, ALIKE_COUNT);
  const firstOfOthers = [...others.slice(ALIKE_COUNT).reverse(), ...alike];
  return { name: `${EXPRESSION_NAME} host`, question, alike, firstOfOthers, timedFirst: [] };
}

function askedOfDefinition(
  { name, isOfAllProjects, quantileColumns }: FurtherDefinition,
  tenants: Tenants,
): Asked {
  const of = (project: string): Question => ({ kind: 'definition', name, project });
  return {
    name: `definition ${name}`,
    question: isOfAllProjects ? { kind: 'definition', name } : of(tenants.hot.ref),
    ...(isOfAllProjects ? NO_OTHERS : othersThan(tenants, 0, ({ ref }) => of(ref))),
    quantileColumns,
  };
}

/** Of the hot, the median and the tiny project. */
function ofEach(
  { projects }: Tenants,
  name: string,
  questionOf: (project: Project) => Question,
): readonly Asked[] {
  const ranks = [
    ['hot', 0],
    ['median', Math.floor(projects.length / 2)],
    ['tiny', projects.length - 1],
  ] as const;
  return ranks.map(([rankName, rank]) => ({
    name: `${name}, ${rankName}`,
    question: questionOf(projects[rank]!),
    ...othersThan({ projects }, rank, questionOf),
  }));
}

/** The questions of the projects that are next in rank. */
function othersThan(
  { projects }: Pick<Tenants, 'projects'>,
  rank: number,
  questionOf: (project: Project) => Question,
): Pick<Asked, 'alike' | 'firstOfOthers' | 'timedFirst'> {
  const distance = (other: number) => Math.abs(other - rank);
  const ranks = projects.map((_, other) => other).filter((other) => other !== rank);
  ranks.sort((left, right) => distance(left) - distance(right));
  const questions = ranks.map((other) => questionOf(projects[other]!));
  const alike = questions.slice(0, ALIKE_COUNT);
  // By Zipf's law the busiest is twice as busy as the next.
  const timedCount = rank === 0 ? 0 : TIMED_FIRST_COUNT;
  const timedFirst = questions.slice(ALIKE_COUNT, ALIKE_COUNT + timedCount);
  const others = questions.slice(ALIKE_COUNT + timedCount, FIRST_OF_OTHERS_COUNT);
  return { alike, firstOfOthers: [...others.reverse(), ...alike], timedFirst };
}
