import { signal } from '@preact/signals';
import type { Definition } from '../../api/endpoints.ts';

/** A text as it is typed, and the state of the definition that it was typed over. */
export type Draft = { readonly text: string; readonly saved: Definition };

/** Texts that were typed and not saved, by the ids of their saved queries. They stay when another view is opened. */
export const drafts = signal<ReadonlyMap<string, Draft>>(new Map());

/** Keeps a draft; `undefined` forgets it. */
export function keepDraft(id: string, draft: Draft | undefined): void {
  const kept = new Map(drafts.peek());
  if (draft === undefined) kept.delete(id);
  else kept.set(id, draft);
  drafts.value = kept;
}

/** Forgets a draft that is what was saved: somebody else may save another text meanwhile. */
export function forgetUnchanged(id: string | undefined): void {
  const draft = id === undefined ? undefined : drafts.peek().get(id);
  if (draft !== undefined && !isChanged(draft)) keepDraft(id!, undefined);
}

export function isChanged({ text, saved }: Draft): boolean {
  return text !== saved.text;
}

// Whoever closes the page is asked by the browser.
addEventListener('beforeunload', (event) => {
  if ([...drafts.peek().values()].some(isChanged)) event.preventDefault();
});
