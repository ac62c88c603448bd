import { echo, oneOf } from '../echo.ts';
import { ServiceError } from '../errors.ts';

/**
 * The media type of a body, in lower case and without parameters; `undefined` when none is given.
 *
 * @throws ServiceError when it is not among `allowed`, or its charset is not UTF-8.
 */
export function readMediaType<T extends string>(
  header: string | undefined,
  allowed: readonly T[],
): T | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const [name, ...parameters] = header.toLowerCase().split(';');
  const type = allowed.find((other) => other === name!.trim());
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(parameter)?.[1])
    .find((value) => value !== undefined);
  const isUtf8 = charset === undefined || charset === 'utf-8' || charset === 'utf8';
  if (type !== undefined && isUtf8) return type;
  throw new ServiceError(
    'unsupported_media_type',
    `Content-Type must be ${oneOf(allowed)}, in UTF-8; got ${echo(header)}`,
  );
}

/** How much an `Accept` header wants a media type that it names: 0 to 1, and 0 where it does not. */
export function acceptWeight(accept: string | undefined, mediaType: string): number {
  const range = (accept ?? '')
    .toLowerCase()
    .split(',')
    .map((text) => text.split(';').map((part) => part.trim()))
    .find(([name]) => name === mediaType);
  if (range === undefined) return 0;
  const weight = range.find((part) => part.startsWith('q='));
  return weight === undefined ? 1 : Number(weight.slice(2)) || 0;
}
