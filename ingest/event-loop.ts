/** Who waits to go on, in order. */
const waiting: (() => void)[] = [];

/**
 * How many go on at a turn of the event loop. Were it all, dozens of large bodies would hold up the
 * thread for as many slices between two looks at its connections; were it one, senders would get
 * half as much done beside busy callers.
 */
const SLICES_PER_TURN = 4;

/** Lets everything else that is due on this thread run first. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(takeTurn);
  });
}

function takeTurn(): void {
  for (const goOn of waiting.splice(0, SLICES_PER_TURN)) goOn();
  if (waiting.length > 0) setImmediate(takeTurn);
}
