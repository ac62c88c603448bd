import { effect, signal } from '@preact/signals';

/** `system` follows the setting of the machine. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'weir-theme';
const ORDER: readonly Theme[] = ['system', 'light', 'dark'];

export const theme = signal<Theme>(readTheme());

/** The theme that is seen. Charts are drawn on a canvas and need its colours. */
export const isDark = signal(false);

const systemDark = matchMedia('(prefers-color-scheme: dark)');
systemDark.addEventListener('change', applyTheme);
effect(applyTheme);

/** Goes on to the next theme. */
export function switchTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length]!;
  localStorage.setItem(KEY, theme.value);
}

function applyTheme(): void {
  isDark.value = theme.value === 'dark' || (theme.value === 'system' && systemDark.matches);
  document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light';
}

function readTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return ORDER.find((name) => name === kept) ?? 'system';
}
