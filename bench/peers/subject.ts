import type { Kind } from '../workload/workload.ts';
import type { Peer } from './peer.ts';
import type { AnswerRow, Question } from './question.ts';

/** An engine that has its data and is asked: a peer, or weir in one of the ways it is measured. */
export interface Subject {
  readonly quantiles: Peer['quantiles'];
  version(): Promise<string>;
  counts(): Promise<ReadonlyMap<Kind, number>>;
  /** Resolves once it does nothing of its own accord any more. */
  atRest(): Promise<void>;
  /** Makes ready what a caller would have ready: the bytes of a request, values of parameters. */
  prepare(question: Question): void;
  /** Asks, and leaves the answer aside; this is timed. False when it cannot be asked such a thing. */
  ask(question: Question): Promise<boolean>;
  /** Asks, and reads the answer. */
  rows(question: Question): Promise<readonly AnswerRow[] | undefined>;
  close(): Promise<void>;
}

/** A peer that has been opened. */
export function subjectOf(peer: Peer): Subject {
  return {
    quantiles: peer.quantiles,
    version: () => peer.version(),
    counts: () => peer.counts(),
    atRest: async () => {},
    prepare: () => {},
    ask: async (question) => (await peer.ask(question)) !== undefined,
    rows: (question) => peer.ask(question),
    close: () => peer.close(),
  };
}
