import { ANSWER_FORMATS, type AnswerFormat, JSON_FORMAT } from '../call/answer-format.ts';
import { echo, oneOf } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { acceptedWeight, readAccept } from './media-type.ts';

/**
 * The format that `Accept` wants most; of those that it wants the same, the first of the list. Who
 * wants none of them gets JSON, rather than no answer.
 *
 * @throws ServiceError where it takes none and says that it does not take JSON.
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
    `Accept must take one of ${oneOf(types)}; got ${echo(accept)}`,
  );
}
