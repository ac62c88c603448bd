import type { Encoding } from '../call/kept-answer.ts';

/** Encodings in order of preference, for equal weights. */
const COMPRESSED: readonly Encoding[] = ['br', 'gzip'];

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * The encoding with the highest weight in `Accept-Encoding` (RFC 9110 §12.5.3): identity, unless the header prefers
 * another one. If no supported encoding is acceptable, plain bytes are sent rather than no answer.
 */
export function preferredEncoding(acceptEncoding: string | undefined): Encoding {
  if (acceptEncoding === undefined || acceptEncoding === '') return 'identity';
  const weights = new Map<string, number>();
  for (const range of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    weights.set(name === 'x-gzip' ? 'gzip' : name, parseWeight(parameters));
  }
  const others = weights.get('*') ?? 0;
  let best: Encoding = 'identity';
  // Identity is acceptable if it is not named, but any named encoding is preferred.
  let bestWeight = weights.get('identity') ?? 0;
  let isNamed = weights.has('identity');
  for (const encoding of COMPRESSED) {
    const weight = weights.get(encoding) ?? others;
    if (weight > bestWeight || (weight === bestWeight && weight > 0 && !isNamed)) {
      best = encoding;
      bestWeight = weight;
      isNamed = true;
    }
  }
  return best;
}

/** An invalid weight counts as 0. */
function parseWeight(parameters: readonly string[]): number {
  const text = parameters.find((parameter) => parameter.startsWith('q='));
  if (text === undefined) return 1;
  return Number(WEIGHT.exec(text)?.[1] ?? 0);
}

/** Whether `If-None-Match` names the tag: in a list, or by `*`, with weak comparison (RFC 9110 §13.1.2). */
export function namesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  // The mark of a weak tag precedes its quotes. A tag contains no quotes.
  for (const [tag] of ifNoneMatch.matchAll(/"[^"]*"/g)) {
    if (tag === etag) return true;
  }
  return false;
}
