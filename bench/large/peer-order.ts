import type { TextTimes } from './asked-texts.ts';
import type { LargeSize } from './sizes.ts';

/** A task for a process, and where its peer has its data. */
export type PeerOrder = {
  readonly task: 'version' | 'load' | 'ask' | 'ask texts';
  /** One of `PEERS`. */
  readonly name: string;
  readonly folder: string;
  readonly size: LargeSize;
  /** SQL of the peer's own, for `ask texts`. */
  readonly texts?: PeerTexts;
};

export type PeerTexts = { readonly warmUp: readonly string[]; readonly asked: readonly string[] };

/** What a peer answered to texts. */
export type PeerTextTimes = { readonly version: string; readonly times: readonly TextTimes[] };
