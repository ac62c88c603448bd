/** Where the service's clock stands for all of this data: aligned to no bucket of any query. */
export const NOW = '2026-01-15T13:47:12.345Z';
export const NOW_US = Date.parse(NOW) * 1000;
