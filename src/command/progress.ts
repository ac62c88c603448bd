/** One line that overwrites itself on a terminal, and is not written anywhere else. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

/** Shows how much of something is done, bytes or files, each percent once. `end` takes the line away. */
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
