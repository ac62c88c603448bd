import { ClockFile } from '../../ingest/clock-file.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { CLOCK_HELD_US_MIN } from '../../ingest/limits.ts';
import { trustedState } from '../../ingest/retention-clock.ts';
import { CommandFailure, type CommandWorld } from './command.ts';
import { folderCommand } from './folder-command.ts';
import { withFolderLock } from './folder-lock.ts';

/** `weir clock`. */
export const CLOCK = folderCommand({
  name: 'clock',
  usage: '[--trust]',
  about: `
When the clock of the machine jumps ahead by more than a day, it may be wrong: weir deletes no logs
by age until it has run for 24 hours. The same holds for a service that was down for more than a
day, and for a new folder. Meanwhile /health reports clock_ahead.

Without --trust, weir clock shows the last trusted time and how much of the wait is over. It changes
nothing, and a running service may use the folder.

With --trust, weir trusts the current time of this machine, and the next start deletes logs older
than RETENTION_DAYS. They cannot be restored, so check the time first. Stop the service before, and
start it within a day.`,
  flags: { trust: { text: 'trust the clock of this machine' } },
  run: async ({ dataDir, storePath }, words, world) => {
    const nowUs = Math.floor(world.wallMs() * 1000);
    const path = words.has('trust') ? await trust(dataDir, world) : storePath;
    const state = await stateText(new ClockFile(new NodeDisk(), path));
    world.out(`clock         ${timeText(nowUs)}\n${state}`);
    return 0;
  },
});

/** Resolves to the path of the store folder. */
function trust(dataDir: string, world: CommandWorld): Promise<string> {
  const advice = 'Stop the service that runs there first';
  return withFolderLock({ dataDir, advice }, world, async (storePath) => {
    const nowUs = Math.floor(world.wallMs() * 1000);
    await new ClockFile(new NodeDisk(), storePath).write(trustedState(nowUs));
    return storePath;
  });
}

async function stateText(file: ClockFile): Promise<string> {
  const state = await file.read();
  if (state === 'damaged') throw new CommandFailure(`${file.path} is damaged; --trust replaces it`);
  if (state === 'missing') return 'trusted time  none is kept yet\n';
  const { trustedUs, heldUs, isProvisional } = state;
  const lines = [`trusted time  ${timeText(trustedUs)}`];
  if (isProvisional || heldUs > 0)
    lines.push(`wait          ${hours(heldUs)} of ${hours(CLOCK_HELD_US_MIN)} h are over`);
  return `${lines.join('\n')}\n`;
}

function timeText(us: number): string {
  return new Date(us / 1000).toISOString();
}

function hours(us: number): string {
  return String(Math.floor(us / 360_000_000) / 10);
}
