import type { LargeSize } from './sizes.ts';

/** A task for a process, and where its peer has its data. */
export type PeerOrder = {
  readonly task: 'version' | 'load' | 'ask';
  /** One of `PEERS`. */
  readonly name: string;
  readonly folder: string;
  readonly size: LargeSize;
};
