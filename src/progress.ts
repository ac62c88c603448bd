/** One line that overwrites itself on a terminal, and is not written anywhere else. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
