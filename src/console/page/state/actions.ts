import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** Something that can be done: with keys, and from the palette. */
export type Action = {
  readonly title: string;
  /** What it belongs to: a heading of the sheet of keys. */
  readonly group: string;
  /** The keys by `KeyboardEvent.key`, one after the other: `g e`, `/`, `Ctrl+k`. */
  readonly keys?: string;
  /** Only keys: it makes no sense in the palette. */
  readonly isOnlyKeys?: boolean;
  readonly run: () => void;
};

/** The actions at present, by the component that offers them. The last ones come first. */
const offered = signal<readonly (readonly Action[])[]>([]);

export function listActions(): readonly Action[] {
  return offered.value.flat();
}

/** Offers actions; what is returned takes them back. */
function offerActions(actions: readonly Action[]): () => void {
  offered.value = [actions, ...offered.peek()];
  return () => {
    offered.value = offered.peek().filter((one) => one !== actions);
  };
}

/** Offers actions while a component is there. They are those of the last time that one of `inputs` changed. */
export function useActions(list: () => readonly Action[], inputs: readonly unknown[]): void {
  useEffect(() => offerActions(list()), inputs);
}

/** Milliseconds in which the second key of two must come. */
const SEQUENCE_MS = 1_200;

let firstKey: { readonly key: string; readonly timeMs: number } | undefined;

/** Runs the action whose keys are pressed. Plain keys are text where text is typed, and of no use below a dialog. */
export function listenKeys(): void {
  addEventListener('keydown', (event) => {
    const key = nameKey(event);
    const isPlain = !key.startsWith('Ctrl+');
    if (event.defaultPrevented || event.isComposing) return;
    if (isPlain && (isTyping(event) || document.querySelector('dialog[open]') !== null)) return;
    const before =
      firstKey !== undefined && event.timeStamp - firstKey.timeMs < SEQUENCE_MS
        ? firstKey.key
        : undefined;
    firstKey = undefined;
    const actions = listActions();
    const found =
      actions.find(({ keys }) => before !== undefined && keys === `${before} ${key}`) ??
      actions.find(({ keys }) => keys === key);
    if (found !== undefined) {
      event.preventDefault();
      found.run();
    } else if (actions.some(({ keys }) => keys?.startsWith(`${key} `))) {
      firstKey = { key, timeMs: event.timeStamp };
    }
  });
}

function nameKey({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string {
  if (altKey) return `Alt+${key}`;
  return ctrlKey || metaKey ? `Ctrl+${key.toLowerCase()}` : key;
}

/** Whether a key is text, for a field or the editor in its shadow root. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, textarea, select');
}
