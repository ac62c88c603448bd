import type { JsonObject, Row } from '../oracle/oracle.ts';

export type Parameters = Readonly<Record<string, string>>;

/** What takes events in and answers saved queries: the oracle, the engine alone, or the service. */
export type Answerer = {
  /** Takes events in as one POST at `nowUs` does. All must be acceptable. */
  post(source: string, events: readonly JsonObject[], nowUs: number): Promise<void> | void;
  /** The rows of a saved query at `nowUs`. */
  call(endpoint: string, parameters: Parameters, nowUs: number): Promise<Row[]> | Row[];
};

/** An Answerer that keeps events as the product does: open first, sealed later. */
export type Store = Answerer & {
  /** Turns every event taken in so far into sealed segments. */
  seal(): Promise<void>;
};
