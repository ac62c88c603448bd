import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';

/** Why there are none to be read, else false. */
export const NO_NICE_VALUES =
  process.platform !== 'linux' && 'the nice value of a thread is read from /proc';

/** The nice values of all threads of this process, counted from that of this thread. */
export function niceValues(): readonly number[] {
  const own = getPriority();
  // proc_pid_stat(5): the 19th field, of which two are before the parenthesis.
  return readdirSync('/proc/self/task').map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]) - own;
  });
}
