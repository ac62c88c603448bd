/** What `open` gives, opened when it is first asked for. */
export function whenAsked<T>(open: () => T): () => T {
  let opened: { readonly value: T } | undefined;
  return () => {
    opened ??= { value: open() };
    return opened.value;
  };
}
