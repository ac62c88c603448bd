/** The body is not what its form says: nothing of it is stored. The message says where and why. */
export class MalformedBodyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MalformedBodyError';
  }
}

/** The body is not UTF-8 throughout. It is read again from a repaired copy (`utf8-repair.ts`): no sender meets this. */
export class InvalidUtf8Error extends Error {
  constructor() {
    super('the body is not UTF-8');
    this.name = 'InvalidUtf8Error';
  }
}

/** The body holds more than one post may: nothing of it is stored. */
export class BodyLimitError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BodyLimitError';
  }
}

/**
 * One event holds more than an event may: it is refused, and the events beside it are stored. Where it is no event but
 * what many have in common, nothing of the body is stored.
 */
export class EventLimitError extends BodyLimitError {
  constructor(message: string) {
    super(message);
    this.name = 'EventLimitError';
  }
}

/** There is no room now; the same post may succeed later. Nothing of it is stored. */
export class OverloadError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OverloadError';
  }
}

/** Nothing can be made durable now; the same post may succeed later. It is not acknowledged. */
export class StorageError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StorageError';
  }
}
