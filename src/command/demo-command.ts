import { createClock } from '../clock.ts';
import { runDemo } from '../demo/demo.ts';
import { type Command, mustBeNone } from './command.ts';

/** `weir demo`. */
export const DEMO: Command = {
  usage: [''],
  about: `
weir demo listens on a free port and prints a link to the console. It posts six hours of sample logs
of nine sources over HTTP, shows three calls with their answers, and continues with live traffic
until Ctrl-C. Then it removes its folder. Of the settings it reads only WORKERS.`,
  flags: {},
  run: async ({ positionals }, world) => {
    mustBeNone('demo', positionals);
    await runDemo(world, createClock(world));
    return 0;
  },
};
