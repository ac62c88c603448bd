/** `JSON.stringify` that takes bigints, too, and writes all their digits. */
export function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => jsonText(item ?? null)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .map(([key, field]) => `${JSON.stringify(key)}:${jsonText(field)}`);
    return `{${fields.join(',')}}`;
  }
  return JSON.stringify(value);
}
