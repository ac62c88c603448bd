import type { SourceSchema } from '../../engine/column/segment.ts';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { type PhysicalPlan, physicalPlanOf } from '../../engine/plan/physical-plan.ts';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { BUILT_IN_SOURCES } from '../../ingest/source.ts';

/** How a text without parameters is run. */
export function planOfText(
  text: string,
  sources: readonly SourceSchema[] = BUILT_IN_SOURCES,
): PhysicalPlan {
  const bound = bindQuery(parseQuery(text), { sources, parameters: [] });
  const context = { parameters: new Map(), nowUs: 0, rowsMax: 1000, sources };
  return physicalPlanOf(optimize(bound, context), EVERYTHING);
}
