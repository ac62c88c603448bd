import type { ServerResponse } from 'node:http';

/** What a caller should know of an answer that is a success: sentences in ASCII, with a semicolon between two. */
export const WARNINGS_HEADER = 'Weir-Warnings';

/** Sets the header where there are sentences. To be called once for an answer. */
export function setWarnings(response: ServerResponse, sentences: readonly string[]): void {
  if (sentences.length > 0) response.setHeader(WARNINGS_HEADER, sentences.join('; '));
}
