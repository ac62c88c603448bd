import { useEffect, useState } from 'preact/hooks';

/** Parts of a list that are drawn in one frame. */
const PARTS_PER_FRAME = 12;

/** How many of so many parts to draw: few in the first frame, more in each frame after it. A long list holds up no click. */
export function useGradualCount(count: number): number {
  const [drawn, setDrawn] = useState(PARTS_PER_FRAME);
  const isDue = drawn < count;
  // An effect runs after the browser has painted.
  useEffect(() => {
    if (isDue) setDrawn(drawn + PARTS_PER_FRAME);
  }, [isDue, drawn]);
  return Math.min(drawn, count);
}
