/** Makes the events of one kind, one after another, in the order of their times. */
export interface EventMaker {
  /** One event as JSON, without line breaks. Its `timestamp` is a whole number of microseconds. */
  next(): string;
}
