import { Button } from '../../components/button.tsx';
import { LogText } from '../../components/log-text.tsx';
import { Empty, Failure, Loading } from '../../components/states.tsx';
import { changeParameters } from '../../state/route.ts';
import { EventTable } from './event-table.tsx';
import { formatMoment } from './event-time.ts';
import type { ExplorePlace } from './explore-place.ts';
import { REQUEST_US, type RequestEvents, useRequestEvents } from './request-events.ts';
import type { RequestKey } from './request-key.ts';

type RequestProps = {
  readonly place: ExplorePlace;
  readonly request: { readonly key: RequestKey; readonly at: number };
  readonly sources: readonly string[];
};

/** One request: its events in all sources, in the order of time. */
export function RequestView({ place, request, sources }: RequestProps) {
  const { key, at } = request;
  const found = useRequestEvents({ key, at, project: place.project, sources });
  const events = found.events.value;
  const isDone = found.askedCount.value === sources.length;
  const minutes = REQUEST_US / 60e6;
  return (
    <div class="explore">
      <div class="around-head">
        <h2>
          {key.name} <LogText text={key.value} />
        </h2>
        <p class="muted">
          within {minutes} minutes of {formatMoment(at, place.zone)}, in{' '}
          {sources.length === 1 ? 'one source' : `${sources.length} sources`}
        </p>
        <Button onClick={() => changeParameters({ request: undefined, at: undefined })}>
          Back to all events
        </Button>
      </div>
      <RequestProblems found={found} />
      {events.length === 0 && !isDone && <Loading what="Looking in all sources" />}
      {events.length === 0 && isDone && <Empty title="No source has events of it" />}
      {events.length > 0 && (
        <EventTable
          label="Events of the request"
          events={events}
          columns={place.columns}
          zone={place.zone}
          kind={place.rows}
          hasSources
          onEnd={() => {}}
          foot={
            <p class="event-foot muted" role="status">
              {isDone ? 'These are all' : 'Looking in more sources …'}
            </p>
          }
        />
      )}
    </div>
  );
}

function RequestProblems({ found }: { readonly found: RequestEvents }) {
  const cut = found.cutSources.value;
  return (
    <>
      {cut.length > 0 && (
        <p class="explore-warning">Only the newest 1,000 events of {cut.join(', ')} are shown.</p>
      )}
      {found.failures.value.map(({ source, error }) => (
        <section key={source} aria-label={source}>
          <Failure error={error} />
        </section>
      ))}
    </>
  );
}
