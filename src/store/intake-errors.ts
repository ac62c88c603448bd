import {
  BodyLimitError,
  MalformedBodyError,
  OverloadError,
  StorageError,
} from '../../ingest/ingest-error.ts';
import { ServiceError } from '../errors.ts';

/** Runs `work`, and converts errors of bodies and of the store to ServiceErrors. */
export async function asServiceErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw toServiceError(cause);
  }
}

/** Runs synchronous `work`, and converts errors of bodies and of the store to ServiceErrors. */
export function withServiceErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw toServiceError(cause);
  }
}

/** Other errors are returned unchanged. */
function toServiceError(cause: unknown): unknown {
  if (cause instanceof MalformedBodyError) {
    return new ServiceError('invalid_body', cause.message, { cause });
  }
  if (cause instanceof BodyLimitError) {
    return new ServiceError('body_too_large', cause.message, { cause });
  }
  if (cause instanceof OverloadError) {
    return new ServiceError('ingest_overloaded', cause.message, { cause });
  }
  if (cause instanceof StorageError) {
    return new ServiceError('storage_failed', cause.message, { cause });
  }
  return cause;
}
