import { createClock } from '../clock.ts';
import { runDemo } from '../demo/demo.ts';
import { type Command, UsageError } from './command.ts';

/** `weir demo`. */
export const DEMO: Command = {
  help: `weir demo runs the service on a folder of its own, with traffic made up.

  weir demo

It listens on a free port, takes in six hours of made-up logs of nine sources through its HTTP door,
shows three calls and their answers, and goes on live until Ctrl-C ends it. Its folder goes with it.

  --help   this text

WORKERS is read; other settings are not. Exit status: 0 when it was ended; 1 when it could not go
on; 2 when the command was not understood.
`,
  options: {},
  run: async ({ positionals }, world) => {
    if (positionals.length > 0) throw new UsageError('demo takes no words behind it');
    await runDemo(world.environment, createClock(world));
    return 0;
  },
};
