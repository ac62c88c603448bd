import { echo } from '../../echo.ts';
import { ServiceError } from '../../errors.ts';

/** How a body is compressed. */
export type BodyEncoding = 'gzip' | 'deflate' | 'br' | 'zstd' | 'snappy';

/** By the names of `Content-Encoding`. */
const ENCODINGS: ReadonlyMap<string, BodyEncoding> = new Map([
  ['gzip', 'gzip'],
  // Another name of gzip (RFC 9110 §8.4.1.3).
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
  ['snappy', 'snappy'],
  // The framing format, as OpenTelemetry's Collector names it. A body shows by itself which format it has.
  ['x-snappy-framed', 'snappy'],
]);

/** The names that `Content-Encoding` may have. */
export const BODY_ENCODING_NAMES: readonly string[] = [...ENCODINGS.keys()];

/**
 * The encoding that `Content-Encoding` names; `undefined` for `identity`.
 *
 * @throws ServiceError if it names an unknown one, or several.
 */
export function parseBodyEncoding(header: string): BodyEncoding | undefined {
  const names = header
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const [name] = names;
  if (name === undefined) return undefined;
  const encoding = names.length === 1 ? ENCODINGS.get(name) : undefined;
  if (encoding !== undefined) return encoding;
  throw new ServiceError(
    'unsupported_encoding',
    `Content-Encoding must be one of gzip, deflate, br, zstd, snappy or identity; got ${echo(header)}`,
  );
}
