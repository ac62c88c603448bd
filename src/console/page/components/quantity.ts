const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;
const THOUSANDS = ['', 'K', 'M', 'B', 'T'] as const;

// `Intl` writes the same numbers, but its first use is a long task: a browser then loads its data.

/** `12.3K`. */
export function formatCount(count: number): string {
  let power = 0;
  let rounded = roundTenths(count);
  while (Math.abs(rounded) >= 1_000 && power < THOUSANDS.length - 1) {
    power += 1;
    rounded = roundTenths(count / 1_000 ** power);
  }
  return `${rounded}${THOUSANDS[power]}`;
}

function roundTenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** `12,345` of an integer. */
export function formatInteger(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `12.3 MiB`. */
export function formatBytes(bytes: number): string {
  let unit = 0;
  let size = bytes;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${UNITS[unit]}`;
}

/** `0.42 ms`, `3.1 s`; a dash where there is nothing. */
export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 1_000 ? `${Number(ms.toPrecision(2))} ms` : `${(ms / 1e3).toFixed(1)} s`;
}

/** `2026-01-15 12:00:00` in UTC; a dash where there is nothing. */
export function formatTime(time: string | null): string {
  return time === null ? '–' : `${time.slice(0, 10)} ${time.slice(11, 19)}`;
}

/** Formats a time given in microseconds since the epoch. */
export function formatMicros(us: number | null): string {
  return us === null ? '–' : formatTime(new Date(us / 1e3).toISOString());
}
