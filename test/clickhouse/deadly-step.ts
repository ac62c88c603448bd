import { ForwardingDisk } from '../../ingest/disk/forwarding-disk.ts';

const counts = new Map<string, number>();

/** Kills the process before the step that `KILLED_BEFORE` names. Steps of one name are counted from 1: `rename 3`. */
export function deadlyStep(name: string): void {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  if (`${name} ${count}` !== process.env['KILLED_BEFORE']) return;
  process.kill(process.pid, 'SIGKILL');
}

/** A disk on which each rename is a step. */
export class DeadlyDisk extends ForwardingDisk {
  override async rename(from: string, to: string): Promise<void> {
    deadlyStep('rename');
    await super.rename(from, to);
  }
}
