/** Starts `batch-thread.ts`: a thread does not have what its process can read. */
import { register } from 'tsx/esm/api';

register();
await import('./batch-thread.ts');
