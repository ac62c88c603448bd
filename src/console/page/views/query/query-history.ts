import { signal } from '@preact/signals';

const KEY = 'weir-queries';
const QUERIES_MAX = 50;

/** Queries that were run in this browser, the last one first. They stay on this machine. */
export const queryHistory = signal<readonly string[]>(readKept());

/** Puts a query in front. */
export function rememberQuery(sql: string): void {
  keep([sql, ...queryHistory.value.filter((one) => one !== sql)].slice(0, QUERIES_MAX));
}

export function forgetQueries(): void {
  keep([]);
}

function keep(queries: readonly string[]): void {
  queryHistory.value = queries;
  localStorage.setItem(KEY, JSON.stringify(queries));
}

function readKept(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}
