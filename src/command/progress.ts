/** Shows one line that is overwritten on a terminal. Elsewhere nothing is written. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(overLine(text));
}

/** A text that overwrites the current line of a terminal. */
export function overLine(text: string): string {
  return `\r\u001b[K${text}`;
}

/** Shows progress in percent, of bytes or files. `end` removes the line. */
export function showShare(title: string): {
  (done: number, total: number): void;
  end(): void;
} {
  let shown = -1;
  const show = (done: number, total: number): void => {
    const share = Math.floor((100 * done) / Math.max(total, 1));
    if (share === shown) return;
    shown = share;
    showProgress(`${title}: ${share} %`);
  };
  const end = (): void => {
    shown = -1;
    showProgress('');
  };
  return Object.assign(show, { end });
}
