import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { LogEvent } from '../../api/explore.ts';
import { LogText } from '../../components/log-text.tsx';
import { eventLevel } from './event-level.ts';
import { EventRecord } from './event-record.tsx';
import { formatParts, type Zone } from './event-time.ts';
import { type EventColumn, formatValues } from './field-path.ts';

/** Characters of a text in a row; all of them are in the record. */
const LINE_LENGTH_MAX = 400;
const WRAPPED_LENGTH_MAX = 1_500;

type LineProps = {
  readonly event: LogEvent;
  readonly columns: readonly EventColumn[];
  readonly zone: Zone;
  readonly isWrapped: boolean;
  readonly onOpen: () => void;
};

/** One event: a line, and its record below it if it is open. */
export function EventRow(
  props: LineProps & {
    readonly id: string;
    readonly index: number;
    /** Where it is below the head of the table. */
    readonly topPx: number;
    readonly measure: (row: HTMLElement | null) => void;
    readonly isChosen: boolean;
    readonly isOpen: boolean;
  },
) {
  const { event, columns, zone, isWrapped, id, index, topPx, measure, isChosen, isOpen } = props;
  const level = useMemo(() => eventLevel(event), [event]);
  // All others are as high as was expected: to measure them makes the browser lay out the page once more.
  const isMeasured = useRef(false);
  isMeasured.current ||= isWrapped || isOpen;
  // A scroll draws all rows again: what they show is drawn once. `onOpen` of any time opens this event.
  const line = useMemo(() => <EventLine {...props} />, [event, columns, zone, isWrapped]);
  const record = useMemo(
    () => isOpen && <EventRecord event={event} columns={columns.map(({ path }) => path)} />,
    [event, columns, isOpen],
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: as the table.
    // biome-ignore lint/a11y/useFocusableInteractive: the table has the focus.
    <div
      id={id}
      class={`event ${level}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      data-index={index}
      ref={isMeasured.current ? measure : null}
      style={{ transform: `translateY(${topPx}px)` }}
    >
      {line}
      {isOpen && (
        // biome-ignore lint/a11y/useSemanticElements: as the table.
        // biome-ignore lint/a11y/useFocusableInteractive: what is in it has the focus.
        <div class="event-record" role="gridcell">
          {record}
        </div>
      )}
    </div>
  );
}

function EventLine({ event, columns, zone, isWrapped, onOpen }: LineProps) {
  const { date, clock } = formatParts(event.timestamp, zone);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Enter does it by the keys.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter does it by the keys.
    <div
      class="event-line"
      onClick={() => {
        // A text was selected: that is no click.
        if (getSelection()?.isCollapsed !== false) onOpen();
      }}
    >
      <Cell kind="event-time">
        <span class="event-date">{date} </span>
        {clock}
      </Cell>
      {event.source !== undefined && (
        <Cell kind="event-column">
          <LineText text={event.source} />
        </Cell>
      )}
      {columns.map(({ path, keys }) => (
        <Cell key={path} kind="event-column">
          <LineText text={formatValues(event, keys)} />
        </Cell>
      ))}
      <Cell kind="event-message">
        <LineText text={event.event_message ?? ''} isWrapped={isWrapped} />
      </Cell>
    </div>
  );
}

function Cell(props: { readonly kind: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as the table.
    // biome-ignore lint/a11y/useFocusableInteractive: the table has the focus.
    <span class={props.kind} role="gridcell">
      {props.children}
    </span>
  );
}

/** The part of a text that there is room for. */
export function LineText(props: { readonly text: string; readonly isWrapped?: boolean }) {
  const { text, isWrapped = false } = props;
  const lengthMax = isWrapped ? WRAPPED_LENGTH_MAX : LINE_LENGTH_MAX;
  return <LogText text={text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text} isCut />;
}
