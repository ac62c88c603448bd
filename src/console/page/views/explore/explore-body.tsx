import type { LogEvent } from '../../api/explore.ts';
import { Button } from '../../components/button.tsx';
import { Empty, Failure, Loading } from '../../components/states.tsx';
import { changeParameters } from '../../state/route.ts';
import type { EventList } from './event-list.ts';
import { EventTable } from './event-table.tsx';
import { formatIso, formatMoment } from './event-time.ts';
import type { ExplorePlace } from './explore-place.ts';
import { Histogram } from './histogram.tsx';

type BodyProps = {
  readonly list: EventList;
  readonly place: ExplorePlace;
  readonly onRetry: () => void;
};

/** The bars over time, and below them the events. */
export function ExploreBody({ list, place, onRetry }: BodyProps) {
  const isList = place.around === undefined;
  return (
    <section class="explore-body" aria-label={isList ? 'Events' : 'Around an event'}>
      {isList ? <Bars list={list} place={place} /> : <AroundHead list={list} place={place} />}
      <LostDays days={list.lostDays.value} />
      <Rows list={list} place={place} onRetry={onRetry} />
    </section>
  );
}

function Bars({ list, place }: Pick<BodyProps, 'list' | 'place'>) {
  const { from = null, to = null, bucket_us = null } = list.query.value ?? {};
  // The room of the bars is there before they are: what is below stays where it is. Rows are drawn first.
  const areRowsDue = list.events.value === undefined && list.failure.value === undefined;
  if (areRowsDue || from === null || to === null || bucket_us === null) {
    return <div class="histogram" />;
  }
  return (
    <Histogram
      window={{ from, to }}
      bucketUs={bucket_us}
      buckets={list.buckets.value}
      share={list.share.value}
      isBySeries={place.by !== ''}
      zone={place.zone}
      onZoom={(zoomed) =>
        changeParameters({ from: formatIso(zoomed.from), to: formatIso(zoomed.to) })
      }
    />
  );
}

/** Microseconds that are shown on either side of an event when the list opens at its time. */
const HALF_HOUR_US = 1_800e6;

function AroundHead({ list, place }: Pick<BodyProps, 'list' | 'place'>) {
  const { timestamp } = place.around!;
  return (
    <div class="around-head">
      <h2>Around the event of {formatMoment(timestamp, place.zone)}</h2>
      <p class="muted">{place.search === '' ? '' : 'those that match the search'}</p>
      <Button
        disabled={!list.hasNewer.value || list.growing.value !== undefined}
        onClick={() => void list.grow('newer')}
      >
        {list.hasNewer.value ? 'Load newer events' : 'No newer events'}
      </Button>
      <Button
        onClick={() =>
          changeParameters({
            around: undefined,
            from: formatIso(timestamp - HALF_HOUR_US),
            to: formatIso(timestamp + HALF_HOUR_US),
          })
        }
      >
        Show the hour around it
      </Button>
    </div>
  );
}

function LostDays({ days }: { readonly days: readonly number[] }) {
  if (days.length === 0) return null;
  const names = days.map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10));
  return (
    <p class="explore-warning" role="status">
      Damage of files has taken events of {names.join(', ')}: what is shown is incomplete.
    </p>
  );
}

function Rows({ list, place, onRetry }: BodyProps) {
  const events = list.events.value;
  const failure = list.failure.value;
  const { parameter } = failure?.details ?? {};
  if (!events?.length && failure !== undefined) {
    return parameter === 'search' || parameter === 'from' || parameter === 'to' ? (
      <Empty
        title={parameter === 'search' ? 'The search cannot be run' : 'There is no such time'}
      />
    ) : (
      <Failure error={failure} onRetry={onRetry} />
    );
  }
  if (events === undefined) return <Loading what="Looking for events" />;
  if (events.length === 0) return <NoEvents list={list} place={place} />;
  const { around } = place;
  const first = around && events.find((event) => isSame(event, around));
  return (
    <>
      {failure !== undefined && (
        <p class="explore-warning" role="alert">
          {failure.message}
        </p>
      )}
      <EventTable
        label={around === undefined ? 'Events' : 'Events around one'}
        events={events}
        columns={place.columns}
        zone={place.zone}
        kind={place.rows}
        first={first}
        onEnd={() => {
          if (list.failure.peek() === undefined) void list.grow('older');
        }}
        foot={<Foot list={list} />}
      />
    </>
  );
}

function isSame(event: LogEvent, key: Pick<LogEvent, 'timestamp' | 'id'>): boolean {
  return event.timestamp === key.timestamp && event.id === key.id;
}

function Foot({ list }: { readonly list: EventList }) {
  const isFailed = list.failure.value !== undefined;
  return (
    <p class="event-foot muted" role="status">
      {list.growing.value === 'older' && 'Loading older events …'}
      {!list.hasOlder.value && 'No older events in this time'}
      {list.hasOlder.value && isFailed && (
        <Button onClick={() => void list.grow('older')}>Load older events</Button>
      )}
    </p>
  );
}

/** Says whether there are older ones, and offers the time that has them. */
function NoEvents({ list, place }: Pick<BodyProps, 'list' | 'place'>) {
  const older = list.older.value;
  const what = place.search === '' ? 'events' : 'events that match the search';
  if (place.around !== undefined) return <Empty title={`There are no ${what} any more`} />;
  if (!list.isDone.value) return <Loading what="Looking for older events" />;
  if (older === null) {
    return (
      <Empty title={`There are no ${what} in this time, and none before it`}>
        {place.project !== '' && (
          <Button onClick={() => changeParameters({ project: undefined })}>
            Look in all projects
          </Button>
        )}
      </Empty>
    );
  }
  const { from = null, to = null } = list.query.value ?? {};
  const lengthUs = (to ?? 0) - (from ?? 0);
  const end = older + 1;
  return (
    <Empty title={`There are no ${what} in this time`}>
      <p class="muted">The newest one before it is of {formatMoment(older, place.zone)}.</p>
      <Button
        kind="primary"
        onClick={() => changeParameters({ from: formatIso(end - lengthUs), to: formatIso(end) })}
      >
        Show the events up to it
      </Button>
    </Empty>
  );
}
