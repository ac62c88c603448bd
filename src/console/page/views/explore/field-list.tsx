import { useMemo, useState } from 'preact/hooks';
import type { FieldInfo, FieldsAnswer } from '../../api/explore.ts';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { useGradualCount } from '../../components/gradual-count.ts';
import { Icon } from '../../components/icon.tsx';
import { LogText } from '../../components/log-text.tsx';
import { formatCount } from '../../components/quantity.ts';
import { Empty, Loaded } from '../../components/states.tsx';
import type { Resource } from '../../state/resource.ts';
import { changeParameters } from '../../state/route.ts';
import { type ExplorePlace, searchField, switchColumn, switchPin } from './explore-place.ts';
import { parsePath } from './field-path.ts';
import { SEARCHED_LENGTH_MAX } from './search-text.ts';

/** Fields that are drawn; others are found by their letters. */
const SHOWN_MAX = 200;

/** Fields whose values are different in nearly each event, and that the list shows anyway. */
const LEFT_OUT: readonly string[] = ['id', 'timestamp', 'event_message'];

type FieldListProps = {
  readonly resource: Resource<FieldsAnswer>;
  readonly onRetry: () => void;
  readonly place: ExplorePlace;
};

/** The fields of the events of the window. A field opens to its most frequent values, and one click searches for one. */
export function FieldList({ resource, onRetry, place }: FieldListProps) {
  const [text, setText] = useState('');
  return (
    <div class="field-list">
      <Field label="Find a field" isLabelHidden>
        <input
          class="input"
          type="search"
          placeholder="Find a field"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </Field>
      <Loaded resource={resource} what="Looking for fields" onRetry={onRetry}>
        {(answer) => <FieldEntries {...{ answer, place }} letters={text.toLowerCase()} />}
      </Loaded>
    </div>
  );
}

function FieldEntries(props: {
  readonly answer: FieldsAnswer;
  readonly place: ExplorePlace;
  /** What the paths must have in them. */
  readonly letters: string;
}) {
  const { answer, place, letters } = props;
  const { fields, events, is_cut } = answer;
  // The same elements each time: those that are drawn already cost nothing when more are added.
  const { elements, isCut } = useMemo(() => {
    const found = orderFields(fields, place.pins).filter(({ path }) =>
      path.toLowerCase().includes(letters),
    );
    const shown = found.slice(0, SHOWN_MAX);
    return {
      elements: shown.map((field) => (
        <FieldEntry key={field.path} field={field} eventCount={events} place={place} />
      )),
      isCut: is_cut || found.length > SHOWN_MAX,
    };
  }, [answer, letters, JSON.stringify(place)]);
  const drawn = useGradualCount(elements.length);
  return (
    <>
      {elements.length === 0 && <Empty title="No fields" />}
      <ul>{elements.slice(0, drawn)}</ul>
      {isCut && <p class="muted">There are more: find them by their letters.</p>}
    </>
  );
}

/** Those that are pinned, in the order of their pins and also where no event has them; then the others. */
function orderFields(fields: readonly FieldInfo[], pins: readonly string[]): readonly FieldInfo[] {
  const byPath = new Map(fields.map((field) => [field.path, field]));
  const pinned = pins.map((path) => byPath.get(path) ?? missingField(path));
  const others = fields.filter(({ path }) => !LEFT_OUT.includes(path) && !pins.includes(path));
  return [...pinned, ...others];
}

function missingField(path: string): FieldInfo {
  const none = { events: 0, distinct: 0, kinds: [], top: [] };
  return { path, keys: parsePath(path), ...none, distinct_is_exact: true, top_is_exact: true };
}

function FieldEntry(props: {
  readonly field: FieldInfo;
  /** All events of the window. */
  readonly eventCount: number;
  readonly place: ExplorePlace;
}) {
  const { field, eventCount, place } = props;
  const { path, keys, events } = field;
  const [isOpen, setOpen] = useState(false);
  const isInMetadata = keys[0] === 'metadata' && keys.length > 1;
  const name = isInMetadata ? path.slice(path.indexOf('.') + 1) : path;
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary title={path}>
          <span class="field-name">
            {place.pins.includes(path) && (
              <>
                <Icon name="pin" /> <span class="unseen">pinned: </span>
              </>
            )}
            <LogText text={name} />
          </span>
          <span class="number muted" title={`in ${events} of ${eventCount} events`}>
            {formatCount(events)}
          </span>
        </summary>
        {isOpen && <FieldDetail field={field} place={place} />}
      </details>
    </li>
  );
}

function FieldDetail({
  field,
  place,
}: {
  readonly field: FieldInfo;
  readonly place: ExplorePlace;
}) {
  const { path, kinds, distinct, distinct_is_exact, top, top_is_exact, events } = field;
  const isColumn = place.columns.includes(path);
  const isBy = place.by === path;
  const isPinned = place.pins.includes(path);
  return (
    <div class="field-detail">
      <p class="muted">
        {kinds.length === 0 ? 'in no event of this time' : kinds.join(', ')} ·{' '}
        {distinct_is_exact ? '' : 'about '}
        {formatCount(distinct)} {distinct === 1 ? 'value' : 'values'}
        {top_is_exact || top.length === 0 ? '' : ' · counts are estimates'}
      </p>
      <ul class="field-values">
        {top.map(({ value, count }) => (
          <FieldValue
            key={`${typeof value} ${value}`}
            {...{ path, value, count, isExact: top_is_exact, most: events }}
          />
        ))}
      </ul>
      <div class="field-tools">
        <Button isPressed={isPinned} icon="pin" onClick={() => switchPin(path)}>
          Pin
        </Button>
        <Button isPressed={isColumn} icon="table" onClick={() => switchColumn(path)}>
          Column
        </Button>
        <Button
          isPressed={isBy}
          icon="filter"
          onClick={() => changeParameters({ by: isBy ? undefined : path }, 'replace')}
        >
          Bars by it
        </Button>
      </div>
    </div>
  );
}

function FieldValue(props: {
  readonly path: string;
  readonly value: FieldInfo['top'][number]['value'];
  readonly count: number;
  readonly isExact: boolean;
  /** The events that have the field. */
  readonly most: number;
}) {
  const { path, value, count, isExact, most } = props;
  const text = value === '' ? '(empty)' : String(value);
  const isSearchable = text.length <= SEARCHED_LENGTH_MAX;
  return (
    <li class="field-value">
      <button
        type="button"
        title={text.slice(0, SEARCHED_LENGTH_MAX)}
        disabled={!isSearchable}
        onClick={() => searchField({ path, value, isWanted: true })}
      >
        <span class="field-value-text">
          <LogText text={text.slice(0, 100)} />
        </span>
        <span class="number muted">
          {isExact ? '' : '≈'}
          {formatCount(count)}
        </span>
        <svg class="field-bar" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
          <rect class="fill-0" width={Math.min(1, count / Math.max(1, most))} height="1" />
        </svg>
      </button>
      {isSearchable && (
        <Button
          kind="quiet"
          icon="minus"
          label={`Not ${text.slice(0, 100)}`}
          onClick={() => searchField({ path, value, isWanted: false })}
        />
      )}
    </li>
  );
}
