/** One line that overwrites itself on a terminal, and is not written anywhere else. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

/** Shows how much of some bytes is done, each percent once. `end` takes the line away. */
export function showShare(title: string): {
  (bytesDone: number, bytesTotal: number): void;
  end(): void;
} {
  let shown = -1;
  const show = (bytesDone: number, bytesTotal: number): void => {
    const share = Math.floor((100 * bytesDone) / Math.max(bytesTotal, 1));
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
