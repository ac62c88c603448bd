import { useState } from 'preact/hooks';
import type { ApiError } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { Field, Select } from '../../components/field.tsx';
import { FormError } from '../../components/form-error.tsx';
import { changeParameters } from '../../state/route.ts';
import { formatTyped, parseTyped } from './event-time.ts';
import type { ExplorePlace } from './explore-place.ts';

const PRESETS = [
  ['-5m', 'Last 5 minutes'],
  ['-15m', 'Last 15 minutes'],
  ['-1h', 'Last hour'],
  ['-3h', 'Last 3 hours'],
  ['-12h', 'Last 12 hours'],
  ['-1d', 'Last day'],
  ['-7d', 'Last 7 days'],
  ['-30d', 'Last 30 days'],
  ['-90d', 'Last 90 days'],
] as const;

const TYPED = 'typed';

/** The time of which events are shown: one of several, or two times that are typed. */
export function TimeRange(props: {
  readonly place: ExplorePlace;
  /** What the service says of the times. */
  readonly problem: ApiError | undefined;
}) {
  const { place, problem } = props;
  const { from, to, zone } = place;
  const isPreset = to === 'now' && PRESETS.some(([value]) => value === from);
  const [isTyping, setTyping] = useState(false);
  const isTyped = isTyping || !isPreset;
  return (
    <>
      <Field label="Time" isLabelHidden>
        <Select
          value={isTyped ? TYPED : from}
          options={[...PRESETS, [TYPED, 'From … to …']]}
          onChange={(value) => {
            setTyping(value === TYPED);
            if (value !== TYPED) changeParameters({ from: value, to: undefined });
          }}
        />
      </Field>
      {isTyped && <TypedRange key={`${from} ${to} ${zone}`} place={place} problem={problem} />}
      <Button
        kind="quiet"
        label={zone === 'UTC' ? 'Times are in UTC: show local time' : 'Times are local: show UTC'}
        onClick={() => changeParameters({ time: zone === 'UTC' ? 'local' : undefined }, 'replace')}
      >
        {zone === 'UTC' ? 'UTC' : 'Local'}
      </Button>
    </>
  );
}

function TypedRange(props: {
  readonly place: ExplorePlace;
  readonly problem: ApiError | undefined;
}) {
  const { place, problem } = props;
  const { zone } = place;
  const [from, setFrom] = useState(formatTyped(place.from, zone));
  const [to, setTo] = useState(formatTyped(place.to, zone));
  return (
    <form
      class="typed-range"
      onSubmit={(event) => {
        event.preventDefault();
        changeParameters({ from: parseTyped(from, zone), to: parseTyped(to, zone) });
      }}
    >
      <TypedTime label="From" value={from} onInput={setFrom} />
      <TypedTime label="To" value={to} onInput={setTo} />
      <button type="submit" class="button">
        Show
      </button>
      <FormError error={problem} />
    </form>
  );
}

function TypedTime(props: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
}) {
  const { label, value, onInput } = props;
  return (
    <Field label={label} isLabelHidden>
      <input
        class="input"
        placeholder="-3h, now, 2026-01-15 12:00"
        spellcheck={false}
        autocomplete="off"
        title={`${label}: a time before now such as -3h, now, or a date and time`}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Field>
  );
}
