const COUNT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** `12.3K`. */
export function formatCount(count: number): string {
  return COUNT.format(count);
}
