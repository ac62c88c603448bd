import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useState } from 'preact/hooks';

/** Rows beyond the window that are drawn, too. */
const OVERSCAN = 10;

export type VirtualRows = Virtualizer<HTMLDivElement, HTMLElement>;

/** Which rows of a long list are in the window, and where they are. Rows are measured once they are drawn. */
export function useVirtualRows(list: {
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly count: number;
  /**
   * A key that stays with its row when others come before it. Another function for the same rows makes the list look at
   * all of them again.
   */
  readonly getKey: (index: number) => number;
  /** Pixels of a row that was not drawn yet, and of a head that stays above the rows. */
  readonly rowPx: number;
  readonly headPx: number;
}): VirtualRows {
  const { frame, count, getKey, rowPx, headPx } = list;
  const [, draw] = useReducer((round: number) => round + 1, 0);
  const options = {
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowPx,
    getItemKey: getKey,
    overscan: OVERSCAN,
    scrollMargin: headPx,
    scrollPaddingStart: headPx,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => draw(undefined),
  };
  const [rows] = useState(() => new Virtualizer<HTMLDivElement, HTMLElement>(options));
  rows.setOptions(options);
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  return rows;
}
