/**
 * Starts `engine-process.ts`, or what it was compiled to: `--module`. weir's compiled modules are loaded without tsx, and so are those of its worker
 * threads, which would inherit a `--import`: as the service is run.
 */
import { parseArgs } from 'node:util';
import { register } from 'tsx/esm/api';

const { values } = parseArgs({
  options: {
    ...{ name: { type: 'string' }, module: { type: 'string' } },
    uncompiled: { type: 'boolean' },
  },
  strict: false,
});
const unregister = values.uncompiled ? undefined : register();
const { main } = await import(values.module);
if (values.name?.startsWith('weir')) await unregister?.();
await main();
