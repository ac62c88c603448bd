import { useMemo, useState } from 'preact/hooks';
import type { LogEvent } from '../../api/explore.ts';
import { Button } from '../../components/button.tsx';
import { type EventColumn, formatValues } from './field-path.ts';

/** Finds events of the list by a text in what is seen of them: the browser's own search sees drawn rows only. */
export function FindBar(props: {
  readonly events: readonly LogEvent[];
  readonly columns: readonly EventColumn[];
  readonly chosen: LogEvent | undefined;
  readonly onChoose: (event: LogEvent) => void;
  readonly onClose: () => void;
}) {
  const { events, columns, chosen, onChoose, onClose } = props;
  const [text, setText] = useState('');
  const found = useMemo(() => findEvents(events, columns, text), [events, columns, text]);
  const at = chosen === undefined ? -1 : found.indexOf(chosen);
  const go = (step: number): void => {
    const from = at < 0 && step < 0 ? 0 : at;
    const event = found[(from + step + found.length) % found.length];
    if (event !== undefined) onChoose(event);
  };
  return (
    <div class="find-bar">
      <input
        class="input"
        type="search"
        aria-label="Find in the list"
        placeholder="Find in the list"
        ref={focus}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') go(event.shiftKey ? -1 : 1);
          else if (event.key === 'Escape') onClose();
          else return;
          event.preventDefault();
        }}
      />
      <span class="muted" role="status">
        {text !== '' && `${at < 0 ? '' : `${at + 1} of `}${found.length}`}
      </span>
      <Button kind="quiet" disabled={found.length === 0} onClick={() => go(-1)}>
        Back
      </Button>
      <Button kind="quiet" disabled={found.length === 0} onClick={() => go(1)}>
        Next
      </Button>
      <Button kind="quiet" icon="close" label="Close the search of the list" onClick={onClose} />
    </div>
  );
}

function findEvents(
  events: readonly LogEvent[],
  columns: readonly EventColumn[],
  text: string,
): readonly LogEvent[] {
  if (text === '') return [];
  const wanted = text.toLowerCase();
  const has = (one: string): boolean => one.toLowerCase().includes(wanted);
  return events.filter(
    (event) =>
      has(event.event_message ?? '') || columns.some(({ keys }) => has(formatValues(event, keys))),
  );
}

function focus(element: HTMLElement | null): void {
  element?.focus();
}
