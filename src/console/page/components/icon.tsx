/** Strokes in a box of 16 × 16. */
const PATHS = {
  check: 'M3 8.5l3.2 3.2L13 5',
  chevron: 'M6 4l4 4-4 4',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M6 6h7v7H6zM3 10V3h7',
  download: 'M8 2.5v7.5M4.8 7L8 10.2 11.2 7M3 13h10',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  help: 'M6 6.2A2 2 0 1 1 8 8.4v1.1M8 12v.2',
  keys: 'M2 5h12v7H2zM5 9.5h6M4.8 7.2h.1M8 7.2h.1M11.2 7.2h.1',
  minus: 'M3.5 8h9',
  moon: 'M13 9.5A5.5 5.5 0 1 1 6.5 3 4.4 4.4 0 0 0 13 9.5z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  pin: 'M8 10v4M4.5 10h7M6 2.5h4l-.5 4.5 2 3h-7l2-3z',
  play: 'M5 3.5l7 4.5-7 4.5z',
  plus: 'M3.5 8h9M8 3.5v9',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.2 3.2',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7',
  system: 'M2 3.5h12v7.5H2zM6 13.5h4M8 11v2.5',
  table: 'M2.5 3.5h11v9h-11zM2.5 6.7h11M6.5 6.7v5.8',
  wrap: 'M2.5 4h11M2.5 8h8.2a2 2 0 0 1 0 4H8M9.6 10.2L7.8 12l1.8 1.8M2.5 12h2.5',
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a text or a label that says the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
