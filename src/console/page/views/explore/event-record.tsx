import type { LogEvent } from '../../api/explore.ts';
import { Button } from '../../components/button.tsx';
import { copyText } from '../../components/notice.tsx';
import { RecordTree, type TreeLeaf } from '../../components/record-tree.tsx';
import { changeParameters, formatFragment, route } from '../../state/route.ts';
import { formatIso } from './event-time.ts';
import { formatEventKey, searchField, switchColumn } from './explore-place.ts';
import { formatPath } from './field-path.ts';
import { findRequestKey, formatRequestKey } from './request-key.ts';
import { SEARCHED_LENGTH_MAX } from './search-text.ts';

/** All of one event: its record as a tree, and what can be done with it. */
export function EventRecord(props: {
  readonly event: LogEvent;
  /** The paths that have a column. */
  readonly columns: readonly string[];
}) {
  const { event, columns } = props;
  const { id, timestamp, event_message, project, metadata } = event;
  const requestKey = findRequestKey(event);
  const shown = {
    ...{ timestamp: formatIso(timestamp), id, event_message },
    ...(project !== null && { project }),
    metadata,
  };
  return (
    <>
      <div class="event-tools">
        <Button
          onClick={() =>
            changeParameters({
              ...(event.source !== undefined && { source: event.source }),
              ...{ around: formatEventKey(event), search: undefined, request: undefined },
            })
          }
        >
          Around this event
        </Button>
        {requestKey !== undefined && (
          <Button
            onClick={() =>
              changeParameters({
                ...{ request: formatRequestKey(requestKey), at: String(timestamp) },
                ...(project !== null && { project }),
              })
            }
          >
            This request
          </Button>
        )}
        <Button icon="copy" onClick={() => copyText(linkTo(event), 'a link to this event')}>
          Copy link
        </Button>
        <Button
          icon="copy"
          onClick={() => copyText(JSON.stringify(event, null, 2), 'the event as JSON')}
        >
          Copy JSON
        </Button>
      </div>
      <RecordTree
        value={shown}
        actions={(leaf) => <LeafTools {...{ leaf, columns, source: event.source }} />}
      />
    </>
  );
}

/** The address of an event among its neighbours: others find it there whatever is searched for. */
function linkTo(event: LogEvent): string {
  const { parameters } = route.peek();
  const { project, columns, time } = parameters;
  const source = event.source ?? parameters['source'];
  const kept = { source, project, columns, time } as Readonly<Record<string, string | undefined>>;
  const fragment = formatFragment('explore', { ...kept, around: formatEventKey(event) });
  return new URL(fragment, document.baseURI.replace(/#.*/, '')).href;
}

function LeafTools(props: {
  readonly leaf: TreeLeaf;
  readonly columns: readonly string[];
  readonly source: string | undefined;
}) {
  const { leaf, columns, source } = props;
  const path = formatPath(leaf.keys);
  const text = String(leaf.value);
  const search = (isWanted: boolean): void =>
    searchField({ path, value: leaf.value, isWanted, source });
  const isSearchable = text.length <= SEARCHED_LENGTH_MAX;
  const isColumn = columns.includes(path);
  const canBeColumn = path !== 'timestamp' && path !== 'event_message';
  return (
    <>
      {isSearchable && (
        <>
          <Button kind="quiet" icon="plus" label="Only these" onClick={() => search(true)} />
          <Button kind="quiet" icon="minus" label="Not these" onClick={() => search(false)} />
        </>
      )}
      {canBeColumn && (
        <Button
          kind="quiet"
          icon="table"
          label={isColumn ? 'Remove the column' : 'Add as column'}
          onClick={() => switchColumn(path)}
        />
      )}
      <Button kind="quiet" icon="copy" label="Copy" onClick={() => copyText(text, 'the value')} />
    </>
  );
}
