import { readFileSync } from 'node:fs';

/** Bytes that the calls of a process for reading have brought, of files and of connections (proc_pid_io(5): rchar). */
export function readBytesOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/io`, 'utf8');
  const bytes = /^rchar: (\d+)$/m.exec(text)?.[1];
  if (bytes === undefined) throw new Error(`the system does not tell what process ${pid} has read`);
  return Number(bytes);
}
