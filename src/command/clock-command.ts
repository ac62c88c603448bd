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
  help: `weir clock shows the time by which old logs are deleted, and trusts the clock at your word.

  weir clock DATA_DIR [--trust]

When the clock of the machine leaps ahead by more than a day, weir deletes nothing by age until it
has run for 24 hours, as the clock may be wrong. A service that was down for more than a day waits,
too. Meanwhile /health says clock_ahead. In a new folder weir also waits for 24 hours before it
deletes anything by age.

Without --trust the last trusted time is shown, with how much of the wait is over; nothing is
changed, and the folder may be that of a running weir. With --trust the time of this machine is
trusted as it is now, and the next start deletes what is past RETENTION_DAYS by it: for ever. So
look at the time that is shown first. The service must be stopped, and be started within a day.

  --trust  trusts the clock of this machine
  --help   this text

Exit status: 0 when it was done; 1 when the folder or its file clock stood in the way; 2 when the
command was not understood.
`,
  flags: ['trust'],
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
