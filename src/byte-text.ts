const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Formats a number of bytes for people: `812 bytes`, `4.7 KiB`, `1.2 GiB`. */
export function byteText(size: number): string {
  let value = size;
  let unit = 0;
  // A value that would be rounded to 1024.0 moves to the next unit.
  while (unit < UNITS.length - 1 && value >= (unit === 0 ? 1024 : 1023.95)) {
    value /= 1024;
    unit += 1;
  }
  if (unit === 0) return size === 1 ? '1 byte' : `${size} bytes`;
  return `${value.toFixed(1)} ${UNITS[unit]}`;
}
