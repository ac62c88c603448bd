const KEY = 'weir-token';

/** The access token of this tab. It ends with the tab, and is in no address and no cookie. */
export function token(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

export function keepToken(text: string): void {
  sessionStorage.setItem(KEY, text);
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}

/** Takes the token of a link `#token=…` out of the address at once, so that no history and no screen keeps it. */
export function takeTokenOfLink(): void {
  const found = /[#&?]token=([^&]*)/.exec(location.hash);
  if (found === null) return;
  keepToken(decodeURIComponent(found[1]!));
  const rest = location.hash.replace(/([#&?])token=[^&]*&?/, '$1').replace(/[&?]$/, '');
  history.replaceState(null, '', rest === '#' ? location.pathname + location.search : rest);
}
