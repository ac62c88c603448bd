import { signal } from '@preact/signals';

const wide = matchMedia('(min-width: 60rem)');

/** Whether there is room for a list at the side. */
export const isWide = signal(wide.matches);

wide.addEventListener('change', () => {
  isWide.value = wide.matches;
});
