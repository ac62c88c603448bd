import { withListDepths } from './common-fields.ts';
import type { LeafPlan } from './leaf-plan.ts';
import type { LeafFooter } from './sealed-layout.ts';
import type { SkeletonArrays } from './skeleton.ts';
import { withTextSources } from './text-columns.ts';

/** Leaves of a segment in the making, with what saves reading its skeletons: where the values of paths lie in all rows. */
export function withPlacesTold(
  leaves: readonly LeafFooter[],
  skeletons: SkeletonArrays,
  slots: Pick<LeafPlan, 'slotColumns' | 'slotOrdinals'>,
): LeafFooter[] {
  return withListDepths(withTextSources(leaves, skeletons, slots.slotColumns), skeletons, slots);
}
