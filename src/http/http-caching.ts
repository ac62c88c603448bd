import type { Encoding } from '../call/kept-answer.ts';

/** Encodings in the order of our liking, where a caller likes them the same. */
const COMPRESSED: readonly Encoding[] = ['br', 'gzip'];

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * The encoding that `Accept-Encoding` weighs highest (RFC 9110 §12.5.3): plain, unless it names or
 * means another. A caller that takes none of ours gets plain bytes, rather than no answer.
 */
export function preferredEncoding(acceptEncoding: string | undefined): Encoding {
  if (acceptEncoding === undefined || acceptEncoding === '') return 'identity';
  const weights = new Map<string, number>();
  for (const range of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    weights.set(name === 'x-gzip' ? 'gzip' : name, weightOf(parameters));
  }
  const others = weights.get('*') ?? 0;
  let best: Encoding = 'identity';
  // Plain bytes that are not named are taken, but wanted less than anything that is.
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

/** A weight that is not one counts as none: what is not understood is not wanted. */
function weightOf(parameters: readonly string[]): number {
  const text = parameters.find((parameter) => parameter.startsWith('q='));
  if (text === undefined) return 1;
  return Number(WEIGHT.exec(text)?.[1] ?? 0);
}

/**
 * Whether `If-None-Match` names the tag of what would be sent: any of a list, or `*`, compared
 * weakly (RFC 9110 §13.1.2).
 */
export function namesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  // What is weak about a tag stands before its quotes; quotes do not stand inside.
  for (const [tag] of ifNoneMatch.matchAll(/"[^"]*"/g)) {
    if (tag === etag) return true;
  }
  return false;
}
