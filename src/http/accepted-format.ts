import { ANSWER_FORMATS, type AnswerFormat, JSON_FORMAT } from '../call/answer-format.ts';
import { echo, formatChoices } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { acceptedWeight, readAccept } from './media-type.ts';

/**
 * The format with the highest weight in `Accept`; of several, the first in the list. Without an acceptable one, JSON is
 * sent rather than no answer.
 *
 * @throws ServiceError if it accepts none and explicitly excludes JSON.
 */
export function acceptedFormat(accept: string | undefined): AnswerFormat {
  if (accept === undefined || accept === '' || accept === '*/*') return JSON_FORMAT;
  const ranges = readAccept(accept);
  let best: AnswerFormat | undefined;
  let bestWeight = 0;
  for (const format of ANSWER_FORMATS) {
    const weight = Math.max(...format.mediaTypes.map((type) => acceptedWeight(ranges, type) ?? 0));
    if (weight <= bestWeight) continue;
    best = format;
    bestWeight = weight;
  }
  if (best !== undefined) return best;
  const [jsonType] = JSON_FORMAT.mediaTypes;
  if (acceptedWeight(ranges, jsonType) === undefined) return JSON_FORMAT;
  const types = ANSWER_FORMATS.map(({ mediaTypes }) => mediaTypes[0]);
  throw new ServiceError(
    'not_acceptable',
    `Accept must allow one of ${formatChoices(types)}; got ${echo(accept)}`,
  );
}
