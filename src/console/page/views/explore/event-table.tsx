import type { ComponentChildren, RefObject } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { LogEvent } from '../../api/explore.ts';
import { Button } from '../../components/button.tsx';
import { useVirtualRows, type VirtualRows } from '../../components/virtual-rows.ts';
import { useActions } from '../../state/actions.ts';
import { EventRow, LineText } from './event-row.tsx';
import type { Zone } from './event-time.ts';
import { type RowKind, switchColumn } from './explore-place.ts';
import { type EventColumn, parsePath } from './field-path.ts';
import { FindBar } from './find-bar.tsx';

/** Rows before the end at which more are asked for. */
const ROWS_BEFORE_END = 40;

/**
 * Heights and widths in `rem`, as the style has them; heights are rounded to pixels. Where a row is measured as it was
 * expected, no other row has to be placed again.
 */
const ROW_REM = { plain: 1.75, dense: 1.35, wrapped: 1.75 } as const;
const HEAD_REM = 1.75;
const COLUMN_REM = 11;
const OTHERS_REM = 24;

type TableProps = {
  /** What the table is of. */
  readonly label: string;
  readonly events: readonly LogEvent[];
  /** Paths of fields. */
  readonly columns: readonly string[];
  readonly zone: Zone;
  readonly kind: RowKind;
  /** An event that is open and in sight at first. */
  readonly first?: LogEvent | undefined;
  /** Whether the events are of several sources, which have a column then. */
  readonly hasSources?: boolean;
  /** Hears whether somebody reads: an event is chosen, or the table is not at its top. */
  readonly onHold?: (isHeld: boolean) => void;
  /** Called when the end comes near. */
  readonly onEnd: () => void;
  /** Below the last row. */
  readonly foot: ComponentChildren;
};

/** Events as rows, of which only those in sight are drawn. A row opens to its record. */
export function EventTable(props: TableProps) {
  const { label, events, columns, zone, kind, first, hasSources = false, onHold, foot } = props;
  const frame = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLDivElement>(null);
  const { rows, keys } = useEventRows(props, frame);
  const items = rows.getVirtualItems();
  const paths = useMemo(
    () => columns.map((path) => ({ path, keys: parsePath(path) })),
    [columns.join()],
  );
  const { chosen, opened, open, choose, press } = useChoice({ events, first, rows, grid });
  const findBar = useFindBar({ events, columns: paths, chosen, choose });
  const isHeld = chosen !== undefined || (rows.scrollOffset ?? 0) > 0;
  useEffect(() => onHold?.(isHeld), [isHeld]);
  const isChosenDrawn = items.some(({ index }) => events[index] === chosen);
  return (
    <>
      {findBar}
      <div class={`event-table ${kind}`} ref={frame}>
        {/* biome-ignore lint/a11y/useSemanticElements: rows that are not drawn have no place in a table. */}
        <div
          class="event-grid"
          role="grid"
          aria-label={label}
          aria-rowcount={events.length + 1}
          aria-activedescendant={chosen && isChosenDrawn ? rowId(keys.keyOf(chosen)) : undefined}
          tabIndex={0}
          ref={grid}
          onKeyDown={press}
          style={{ minWidth: minWidth(columns) }}
        >
          <TableHead columns={columns} zone={zone} hasSources={hasSources} />
          <div
            class="event-rows"
            role="presentation"
            style={{ height: `${rows.getTotalSize()}px` }}
          >
            {items.map(({ key, index, start }) => {
              const event = events[index]!;
              return (
                <EventRow
                  key={key}
                  id={rowId(key)}
                  event={event}
                  index={index}
                  topPx={start - rows.options.scrollMargin}
                  measure={rows.measureElement}
                  columns={paths}
                  zone={zone}
                  isWrapped={kind === 'wrapped'}
                  isChosen={event === chosen}
                  isOpen={opened.has(event)}
                  onOpen={() => open(event)}
                />
              );
            })}
          </div>
        </div>
        {foot}
      </div>
    </>
  );
}

/** Which rows are drawn. It asks for more events when their end comes near. */
function useEventRows(
  { events, kind, first, onEnd }: Pick<TableProps, 'events' | 'kind' | 'first' | 'onEnd'>,
  frame: RefObject<HTMLDivElement | null>,
): { readonly rows: VirtualRows; readonly keys: EventKeys } {
  const [keys] = useState(() => new EventKeys());
  // To ask for a style makes the browser compute all that are due: once is enough.
  const [rem] = useState(() =>
    Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
  );
  const getKey = useCallback((index: number) => keys.keyOf(events[index]!), [events]);
  const rows = useVirtualRows({
    ...{ frame, count: events.length, getKey },
    ...{ rowPx: Math.round(ROW_REM[kind] * rem), headPx: Math.round(HEAD_REM * rem) },
  });
  const lastIndex = rows.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (lastIndex >= events.length - ROWS_BEFORE_END) onEnd();
  }, [lastIndex, events]);
  useEffect(() => {
    if (first !== undefined) rows.scrollToIndex(events.indexOf(first), { align: 'center' });
  }, [first]);
  return { rows, keys };
}

function rowId(key: number | string | bigint): string {
  return `event-${key}`;
}

/** Columns keep their widths: with many the table is wider than the window, and scrolls. */
function minWidth(columns: readonly string[]): string {
  return columns.length === 0 ? '' : `${COLUMN_REM * columns.length + OTHERS_REM}rem`;
}

/** A number for each event: two may have the same id. */
class EventKeys {
  readonly #keys = new WeakMap<LogEvent, number>();
  #count = 0;

  keyOf(event: LogEvent): number {
    const known = this.#keys.get(event);
    if (known !== undefined) return known;
    this.#count += 1;
    this.#keys.set(event, this.#count);
    return this.#count;
  }
}

/** Which event is chosen and which are open, and the keys that change it. */
function useChoice(parts: {
  readonly events: readonly LogEvent[];
  readonly first: LogEvent | undefined;
  readonly rows: VirtualRows;
  readonly grid: RefObject<HTMLElement | null>;
}) {
  const { events, first, rows, grid } = parts;
  const [chosen, setChosen] = useState(first);
  const [opened, setOpened] = useState<ReadonlySet<LogEvent>>(new Set(first ? [first] : []));
  const open = (event: LogEvent): void => {
    setChosen(event);
    setOpened((before) => {
      const after = new Set(before);
      if (!after.delete(event)) after.add(event);
      return after;
    });
  };
  const choose = (event: LogEvent): void => {
    setChosen(event);
    rows.scrollToIndex(events.indexOf(event));
  };
  const move = (step: number): void => {
    if (events.length === 0) return;
    const at = chosen === undefined ? -1 : events.indexOf(chosen);
    const index = Math.max(0, Math.min(events.length - 1, at + step));
    choose(events[index]!);
    grid.current?.focus({ preventScroll: true });
  };
  const press = (event: KeyboardEvent): void => {
    if (event.target !== grid.current) return;
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -events.length, End: events.length }[event.key];
    if (step !== undefined) move(step);
    else if (event.key === 'Enter' && chosen !== undefined) open(chosen);
    else return;
    event.preventDefault();
  };
  useActions(() => {
    const keys = { group: 'Events', isOnlyKeys: true };
    return [
      { title: 'Next event', ...keys, keys: 'j', run: () => move(1) },
      { title: 'Event before', ...keys, keys: 'k', run: () => move(-1) },
      {
        ...{ title: 'Open or close the chosen event (also Enter)', ...keys, keys: 'o' },
        run: () => chosen && open(chosen),
      },
    ];
  }, [events, chosen]);
  return { chosen, opened, open, choose, press };
}

/** What finds events in the list, when it is open. */
function useFindBar(parts: {
  readonly events: readonly LogEvent[];
  readonly columns: readonly EventColumn[];
  readonly chosen: LogEvent | undefined;
  readonly choose: (event: LogEvent) => void;
}): ComponentChildren {
  const { events, columns, chosen, choose } = parts;
  const [isOpen, setOpen] = useState(false);
  useActions(
    () => [{ title: 'Find in the list', group: 'Events', keys: 'f', run: () => setOpen(true) }],
    [],
  );
  if (!isOpen) return null;
  return (
    <FindBar
      events={events}
      columns={columns}
      chosen={chosen}
      onChoose={choose}
      onClose={() => setOpen(false)}
    />
  );
}

function TableHead({
  columns,
  zone,
  hasSources,
}: Pick<TableProps, 'columns' | 'zone' | 'hasSources'>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as the table.
    // biome-ignore lint/a11y/useFocusableInteractive: what is in it has the focus.
    <div class="event-head event-line" role="row" aria-rowindex={1}>
      <HeadCell kind="event-time">Time ({zone === 'UTC' ? 'UTC' : 'local'})</HeadCell>
      {hasSources && <HeadCell kind="event-column">Source</HeadCell>}
      {columns.map((path) => (
        <HeadCell key={path} kind="event-column" title={path}>
          <span class="event-column-name">
            <LineText text={parsePath(path).at(-1) ?? ''} />
          </span>
          <Button
            kind="quiet"
            icon="close"
            label={`Remove the column ${path}`}
            onClick={() => switchColumn(path)}
          />
        </HeadCell>
      ))}
      <HeadCell kind="event-message">Message</HeadCell>
    </div>
  );
}

function HeadCell(props: {
  readonly kind: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as the table.
    // biome-ignore lint/a11y/useFocusableInteractive: what is in it has the focus.
    <span class={props.kind} role="columnheader" title={props.title}>
      {props.children}
    </span>
  );
}
