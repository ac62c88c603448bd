import { STRING } from '../../engine/column/type.ts';
import { PlanCache } from '../../engine/plan/plan-cache.ts';
import { type PreparedQuery, prepareQuery } from '../../engine/plan/prepared-query.ts';
import { QueryError } from '../../engine/query-error.ts';
import type { HostileText } from './text-shapes.ts';
import { HOSTILE_SANDBOX, largestCount } from './texts.ts';

const SOURCES = [{ name: 'postgres.logs', projectPath: ['project'] }];
const ENVIRONMENT = { sources: SOURCES, parameters: [{ name: 'project', type: STRING }] };
const CALL = {
  sources: SOURCES,
  parameters: new Map([['project', 'alpha']]),
  nowUs: 1_768_478_400_000_000,
  rowsMax: 1000,
};

const SANDBOX = prepareQuery(HOSTILE_SANDBOX.replaceAll(/^--.*\n/gm, ''), ENVIRONMENT);

/** Parses and binds a text over the tables of the sandbox; the error where it is refused. */
function prepareText(sql: string): PreparedQuery | QueryError {
  try {
    return prepareQuery(sql, { ...ENVIRONMENT, within: [SANDBOX.commonTables] });
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
}

/** Does what the main thread does for a text that is called twice; the error where it is refused. */
export function planText(sql: string): QueryError | undefined {
  const prepared = prepareText(sql);
  if (prepared instanceof QueryError) return prepared;
  const plans = new PlanCache();
  try {
    plans.planOf(prepared.bound, CALL);
    plans.planOf(prepared.bound, CALL);
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
}

/** The text with the largest count that is allowed, of at most so many characters. */
export function largestAllowed({ withCount }: HostileText, lengthMax: number): string {
  const isAllowed = (count: number) => {
    const sql = withCount(count);
    return sql.length <= lengthMax && !(prepareText(sql) instanceof QueryError);
  };
  return withCount(largestCount(isAllowed));
}
