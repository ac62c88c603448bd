import type { AnyContent, SegmentContent } from '../column/segment.ts';
import { INHERITED_STATES_MAX } from './limits.ts';
import type { PartialMemo } from './partial-memo.ts';
import type { RememberedPartial } from './remembered-partial.ts';

/**
 * By the key of each fragment of which something is remembered of all of some segments: the states of their rows,
 * which are now those of one segment, with this content.
 */
export function legaciesOf(
  memo: PartialMemo,
  from: readonly AnyContent[],
  to: SegmentContent,
): ReadonlyMap<string, readonly RememberedPartial[]> {
  const legacies = new Map<string, readonly RememberedPartial[]>();
  const [first, ...others] = from;
  if (first === undefined) return legacies;
  for (const key of memo.keysOf(first)) {
    if (legacies.size === INHERITED_STATES_MAX) break;
    const parts: RememberedPartial[] = [];
    for (const content of [first, ...others]) {
      const remembered = memo.peek(content, key);
      if (typeof remembered === 'object' && isOfAll(remembered, to)) parts.push(remembered);
    }
    if (parts.length === from.length) legacies.set(key, parts);
  }
  return legacies;
}

/** Whether it is the state of one segment, and of all of its rows: of an open one these are all of the new one. */
function isOfAll({ members, rowEnd }: RememberedPartial, { rowCount }: SegmentContent): boolean {
  return members === undefined && (rowEnd === undefined || rowEnd === rowCount);
}
