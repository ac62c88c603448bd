import { useEffect, useRef, useState } from 'preact/hooks';
import { type Action, listActions } from '../state/actions.ts';
import { Dialog } from './dialog.tsx';

const SHOWN_MAX = 50;

/** Finds an action, a view, a source or an endpoint by some of its letters. */
export function Palette({
  more,
  onClose,
}: {
  /** What can be opened beside the actions. */
  readonly more: readonly Action[];
  readonly onClose: () => void;
}) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const found = findActions([...listActions().filter((one) => !one.isOnlyKeys), ...more], text);
  const at = Math.min(chosen, found.length - 1);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const run = (action: Action | undefined): void => {
    if (action === undefined) return;
    onClose();
    // The focus returns first to where it was; the action may move it.
    requestAnimationFrame(() => action.run());
  };
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChosen((at + step + found.length) % Math.max(1, found.length));
    } else if (event.key === 'Enter') run(found[at]);
  };
  return (
    <Dialog title="Find views, sources, endpoints and actions" kind="bare" onClose={onClose}>
      <input
        class="input palette-input"
        type="text"
        role="combobox"
        aria-label="Find views, sources, endpoints and actions"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${at}` : undefined}
        placeholder="Find views, sources, endpoints and actions"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={press}
      />
      <div class="palette-list" id="palette-list" role="listbox" aria-label="Found" ref={list}>
        {found.map((action, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text field.
          <div
            key={`${action.group} ${action.title}`}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => run(action)}
          >
            <span>{action.title}</span>
            <span class="muted">{action.group}</span>
            {action.keys && <Keys keys={action.keys} />}
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="palette-none muted">Nothing has these letters</p>}
    </Dialog>
  );
}

export function Keys({ keys }: { readonly keys: string }) {
  return (
    <span class="keys">
      {keys.split(' ').map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}

/** Those with all words, in the order of how early the words come. */
function findActions(actions: readonly Action[], text: string): readonly Action[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rated = actions.flatMap((action) => {
    const title = `${action.title} ${action.group}`.toLowerCase();
    const places = words.map((word) => title.indexOf(word));
    return places.includes(-1)
      ? []
      : [{ action, place: places.reduce((sum, place) => sum + place, 0) }];
  });
  return rated
    .sort((left, right) => left.place - right.place)
    .slice(0, SHOWN_MAX)
    .map(({ action }) => action);
}
