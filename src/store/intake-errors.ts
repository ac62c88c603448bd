import {
  BodyLimitError,
  MalformedBodyError,
  OverloadError,
  StorageError,
} from '../../ingest/ingest-error.ts';
import { ServiceError } from '../errors.ts';

/** What a body or the store refuses, in the words of the service's callers. */
export async function asServiceErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof MalformedBodyError) {
      throw new ServiceError('invalid_body', cause.message, { cause });
    }
    if (cause instanceof BodyLimitError) {
      throw new ServiceError('body_too_large', cause.message, { cause });
    }
    if (cause instanceof OverloadError) {
      throw new ServiceError('ingest_overloaded', cause.message, { cause });
    }
    if (cause instanceof StorageError) {
      throw new ServiceError('storage_failed', cause.message, { cause });
    }
    throw cause;
  }
}
