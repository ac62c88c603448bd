import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { LogText } from '../../components/log-text.tsx';
import { formatInteger } from '../../components/quantity.ts';
import { Empty, Failure, Loading } from '../../components/states.tsx';
import { useActions } from '../../state/actions.ts';
import { changeParameters } from '../../state/route.ts';
import { EventTable } from './event-table.tsx';
import type { ExplorePlace } from './explore-place.ts';
import { type TailEvents, useTailEvents } from './tail-events.ts';

/** The events of a source that match the search, as they arrive. The list pauses while somebody reads in it. */
export function TailView({
  source,
  place,
}: {
  readonly source: string;
  readonly place: ExplorePlace;
}) {
  const tail = useTailEvents(source, place);
  const [isPaused, setPaused] = useState(false);
  const [isRead, setRead] = useState(false);
  // A new table is at its top, and nothing is chosen in it.
  const [round, setRound] = useState(0);
  const isSelecting = useSelecting();
  const isHeld = isPaused || isRead || isSelecting;
  useEffect(() => tail.hold(isHeld), [tail, isHeld]);
  const goOn = (): void => {
    setPaused(false);
    setRead(false);
    getSelection()?.removeAllRanges();
    setRound(round + 1);
  };
  const pause = (): void => (isHeld ? goOn() : setPaused(true));
  useActions(
    () => [{ title: 'Pause or go on', group: 'Live', keys: 'p', run: pause }],
    [isHeld, round],
  );
  const failure = tail.failure.value;
  const events = tail.events.value;
  return (
    <div class="explore">
      <div class="around-head">
        <h2>Live: {source}</h2>
        <TailFacts tail={tail} isHeld={isHeld} place={place} />
        <Button icon={isHeld ? 'play' : 'pause'} onClick={pause}>
          {isHeld ? 'Go on' : 'Pause'}
        </Button>
        <Button onClick={() => changeParameters({ live: undefined })}>Back to all events</Button>
      </div>
      {failure !== undefined && <Failure error={failure} />}
      {events.length === 0 && failure === undefined && tail.state.value === 'connecting' && (
        <Loading what="Connecting" />
      )}
      {events.length === 0 && tail.state.value !== 'connecting' && (
        <Empty
          title={
            place.search === '' ? 'No event has come yet' : 'No event that matches has come yet'
          }
        />
      )}
      {events.length > 0 && (
        <EventTable
          key={round}
          label="Events as they come"
          events={events}
          columns={place.columns}
          zone={place.zone}
          kind={place.rows}
          onHold={setRead}
          onEnd={() => {}}
          foot={<p class="event-foot muted">Older ones are in the list of all events</p>}
        />
      )}
    </div>
  );
}

/** Whether a text of the page is selected. */
function useSelecting(): boolean {
  const [isSelecting, setSelecting] = useState(false);
  useEffect(() => {
    const note = (): void => setSelecting(getSelection()?.isCollapsed === false);
    document.addEventListener('selectionchange', note);
    return () => document.removeEventListener('selectionchange', note);
  }, []);
  return isSelecting;
}

function TailFacts(props: {
  readonly tail: TailEvents;
  readonly isHeld: boolean;
  readonly place: ExplorePlace;
}) {
  const { tail, isHeld, place } = props;
  const waiting = tail.waitingCount.value;
  const leftOut = tail.leftOutCount.value;
  const isLost = tail.state.value === 'lost';
  return (
    <p class="tail-facts muted">
      {place.project !== '' && <span>project {place.project}</span>}
      {place.search !== '' && (
        <span>
          that match{' '}
          <code>
            <LogText text={place.search} />
          </code>
        </span>
      )}
      <span>{formatInteger(tail.rate.value)} a second</span>
      {isLost && <span class="badge warn">connecting again</span>}
      {isHeld && (
        <span class="badge accent">
          paused, {waiting === 0 ? 'nothing new yet' : `${formatInteger(waiting)} new`}
        </span>
      )}
      {leftOut > 0 && (
        <span class="badge warn">{formatInteger(leftOut)} were left out during the pause</span>
      )}
    </p>
  );
}
