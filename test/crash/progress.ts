/** Between two lines. */
const LINE_MS = 10_000;

/**
 * Tells on standard error how far a long test is, every ten seconds: short ones say nothing. Gives what
 * is to be called with how many of `total` are done.
 */
export function progressOf(what: string, total: number): (done: number) => void {
  const startMs = performance.now();
  let lineMs = startMs;
  return (done) => {
    const nowMs = performance.now();
    if (nowMs - lineMs < LINE_MS) return;
    lineMs = nowMs;
    const passedS = (nowMs - startMs) / 1000;
    const leftS = (passedS / Math.max(done, 1)) * Math.max(total - done, 0);
    process.stderr.write(
      `${what}: ${done} of ${total}, ${passedS.toFixed(0)} s, ${leftS.toFixed(0)} s left\n`,
    );
  };
}
