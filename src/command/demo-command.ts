import { createClock } from '../clock.ts';
import { runDemo } from '../demo/demo.ts';
import { type Command, mustBeNone } from './command.ts';

/** `weir demo`. */
export const DEMO: Command = {
  usage: [''],
  about: `
It listens on a free port, prints a link to the console, posts six hours of made-up logs of nine
sources over HTTP, shows three calls with their answers, and continues with live traffic until
Ctrl-C ends it. The folder is removed then. Of the settings only WORKERS is read.`,
  flags: {},
  run: async ({ positionals }, world) => {
    mustBeNone('demo', positionals);
    await runDemo(world, createClock(world));
    return 0;
  },
};
