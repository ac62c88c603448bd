import type { LogIntake } from './log-intake.ts';
import type { QueryEngine } from './query-engine.ts';

/** The engine and the store of logs behind the service's doors. */
export interface Backend {
  readonly engine: QueryEngine;
  readonly intake: LogIntake;
  /** Reads what is stored; calls are taken only after it. */
  recover(nowUs: number): Promise<void>;
  /** To be called about once a second: seals, expires. */
  tick(nowUs: number): void;
  /** Leaves nothing unwritten, and no thread. May be called before `recover` has been. */
  close(nowUs: number): Promise<void>;
}
