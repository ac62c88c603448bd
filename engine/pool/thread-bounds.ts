import { SPILLED_BYTES_MAX } from '../column/spill-file.ts';
import {
  ANSWER_BLOCK_BYTES_MAX,
  ANSWER_BYTES_MAX,
  KEPT_BYTES_MAX,
  PASSING_BYTES_MAX,
  READERS_BYTES_MAX,
} from '../limits.ts';
import type { SharedMemoryUse } from './held-memory.ts';

/** Bytes that each thread of a pool may have beside what its query holds; those of `limits.ts` where left out. */
export type ThreadBounds = {
  /** Of one answer. */
  readonly answerBytesMax: number;
  /** Of each block that is kept for answers. */
  readonly answerBlockBytesMax: number;
  /** Of segments that a task reads for itself; half as much may be garbage. */
  readonly passingBytesMax: number;
  /** Of what is kept of tasks that have ended. */
  readonly keptBytesMax: number;
  /** Of arrays beyond which a thread keeps fewer segments open. */
  readonly readersBytesMax: number;
  /** Of the file of one task whose states do not fit into memory. */
  readonly spilledBytesMax: number;
};

/** What a thread is sent when it starts. */
export type ThreadData = {
  readonly memory: SharedMemoryUse;
  readonly bounds: ThreadBounds;
  /** The folder for such files; absent: states have to fit into memory. */
  readonly spillFolder?: string | undefined;
};

export const THREAD_BOUNDS: ThreadBounds = {
  answerBytesMax: ANSWER_BYTES_MAX,
  answerBlockBytesMax: ANSWER_BLOCK_BYTES_MAX,
  passingBytesMax: PASSING_BYTES_MAX,
  keptBytesMax: KEPT_BYTES_MAX,
  readersBytesMax: READERS_BYTES_MAX,
  spilledBytesMax: SPILLED_BYTES_MAX,
};
