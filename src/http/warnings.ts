import type { TransportResponse } from './transport.ts';

/** Warnings of successful answers: ASCII sentences, separated by semicolons. */
export const WARNINGS_HEADER = 'Weir-Warnings';

/** Sets the header if there are sentences. Must be called once for an answer. */
export function setWarnings(
  response: Pick<TransportResponse, 'setHeader'>,
  sentences: readonly string[],
): void {
  if (sentences.length > 0) response.setHeader(WARNINGS_HEADER, sentences.join('; '));
}
