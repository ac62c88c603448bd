import { computed, signal } from '@preact/signals';

/** The names of the views, as in the fragment. */
export const VIEW_NAMES = ['explore', 'query', 'endpoints', 'service'] as const;

export type ViewName = (typeof VIEW_NAMES)[number];

/** What a link holds: a view and its parameters. All of it is in the fragment, which no server sees. */
export type Route = {
  readonly view: ViewName;
  readonly parameters: Readonly<Record<string, string>>;
};

/** Parameters to change; `undefined` takes one away. */
export type ParameterChange = Readonly<Record<string, string | undefined>>;

/** Where the page is. It changes with the address, and only with it. */
export const route = signal<Route>(parseFragment(location.hash));

/** The name of the view alone, for what need not be drawn again when a parameter changes. */
export const viewName = computed(() => route.value.view);

addEventListener('hashchange', () => {
  route.value = parseFragment(location.hash);
});

/** Reads `#/explore?source=…`. What is not known is the first view. */
function parseFragment(fragment: string): Route {
  const [path = '', query = ''] = splitOnce(fragment.replace(/^#\/?/, ''), '?');
  const view = VIEW_NAMES.find((name) => name === path) ?? VIEW_NAMES[0];
  // The token of a link is no parameter: it must not come back into the address.
  const { token: _, ...parameters } = Object.fromEntries(new URLSearchParams(query));
  return { view, parameters };
}

/** The address of a view; it can be a link's `href`. */
export function formatFragment(view: ViewName, parameters: ParameterChange = {}): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const query = new URLSearchParams(given).toString();
  return query === '' ? `#/${view}` : `#/${view}?${query}`;
}

/** Opens a view if the address names none. */
export function openFirst(view: ViewName): void {
  const [path] = splitOnce(location.hash.replace(/^#\/?/, ''), '?');
  if (!VIEW_NAMES.some((name) => name === path)) setFragment(formatFragment(view), 'replace');
}

/** Opens a view, as a click on a link does. */
export function openView(view: ViewName, parameters: ParameterChange = {}): void {
  setFragment(formatFragment(view, parameters), 'push');
}

/**
 * Changes parameters of the view that is open. `replace` leaves no step for the browser's Back: for what is typed.
 */
export function changeParameters(change: ParameterChange, how: 'push' | 'replace' = 'push'): void {
  const { view, parameters } = route.peek();
  setFragment(formatFragment(view, { ...parameters, ...change }), how);
}

function setFragment(fragment: string, how: 'push' | 'replace'): void {
  if (fragment === location.hash) return;
  if (how === 'push') history.pushState(null, '', fragment);
  else history.replaceState(null, '', fragment);
  route.value = parseFragment(fragment);
}

addEventListener('popstate', () => {
  route.value = parseFragment(location.hash);
});

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
