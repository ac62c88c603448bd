import { DownloadDialog } from '../../components/download-dialog.tsx';
import { LogText } from '../../components/log-text.tsx';
import { formatInteger } from '../../components/quantity.ts';
import type { EventList } from './event-list.ts';
import { formatIso, formatMoment } from './event-time.ts';
import type { ExplorePlace } from './explore-place.ts';

/** Downloads the events of the time that is shown, also those that the list has not loaded. */
export function EventsDownload(props: {
  readonly source: string;
  readonly place: ExplorePlace;
  readonly list: EventList;
  readonly onClose: () => void;
}) {
  const { source, place, list, onClose } = props;
  const { project, search, zone } = place;
  const { from = null, to = null } = list.query.value ?? {};
  if (from === null || to === null) return null;
  const order = {
    ...{ source, from: formatIso(from), to: formatIso(to) },
    ...(project !== '' && { project }),
    ...(search !== '' && { search }),
  };
  const count = list.buckets.value.reduce((sum, bucket) => sum + bucket.count, 0);
  return (
    <DownloadDialog order={order} onClose={onClose}>
      All {list.isDone.value && formatInteger(count)} events of <LogText text={source} />
      {project !== '' && (
        <>
          {' '}
          of the project <LogText text={project} />
        </>
      )}{' '}
      from {formatMoment(from, zone)} to {formatMoment(to, zone)}{' '}
      {zone === 'UTC' ? 'UTC' : 'local time'}
      {search !== '' && (
        <>
          {' '}
          that match the search{' '}
          <code>
            <LogText text={search} />
          </code>
        </>
      )}
      , newest first: also those that the list has not loaded.
    </DownloadDialog>
  );
}
