import type { EventBatch } from '../workload/workload.ts';

/** In UTF-16 units: much for each statement, little of the memory. */
const LENGTH_MIN = 32 * 1024 * 1024;

/** The texts of batches, many together: for engines that take long to begin with a text. */
export function* joinedTexts(batches: Iterable<EventBatch>): Generator<string> {
  let text = '';
  for (const batch of batches) {
    text += batch.text;
    if (text.length < LENGTH_MIN) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}
