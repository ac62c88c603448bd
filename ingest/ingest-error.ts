/** The body does not have the format that it claims: nothing of it is stored. The message says where and why. */
export class MalformedBodyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MalformedBodyError';
  }
}

/** The body is not valid UTF-8. It is decoded again from a repaired copy (`utf8-repair.ts`), so no sender gets this error. */
export class InvalidUtf8Error extends Error {
  constructor() {
    super('the body is not UTF-8');
    this.name = 'InvalidUtf8Error';
  }
}

/** The body exceeds a limit of a post: nothing of it is stored. */
export class BodyLimitError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BodyLimitError';
  }
}

/**
 * An event exceeds a limit: it is refused, and the other events of the body are stored. If the limit is exceeded by
 * data that several events share, nothing of the body is stored.
 */
export class EventLimitError extends BodyLimitError {
  constructor(message: string) {
    super(message);
    this.name = 'EventLimitError';
  }
}

/** A queue or the memory is full. Nothing of the post is stored; the same post may succeed later. */
export class OverloadError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OverloadError';
  }
}

/** The log cannot make the post durable. It is not acknowledged; the same post may succeed later. */
export class StorageError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StorageError';
  }
}
