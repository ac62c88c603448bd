import { type Fragment, fragmentOf } from '../../engine/memo/fragment.ts';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { physicalPlanOf, scansOf } from '../../engine/plan/physical-plan.ts';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';

const sources = [{ name: 'logs', projectPath: ['project'] }];

/** The fragment of a text over `logs`; `undefined`: it has none. */
export function fragmentOfText(sql: string): Fragment | undefined {
  const bound = bindQuery(parseQuery(sql), { sources, parameters: [] });
  const call = { parameters: new Map(), nowUs: 1e15, rowsMax: 100, sources };
  const plan = physicalPlanOf(optimize(bound, call), EVERYTHING);
  return fragmentOf({ plan, scans: scansOf(plan) });
}
