import { useEffect, useState } from 'preact/hooks';
import { type FieldsAnswer, loadFields, loadSources, type NamedSource } from '../../api/explore.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { useActions } from '../../state/actions.ts';
import { isWide } from '../../state/media.ts';
import { type Resource, useResource } from '../../state/resource.ts';
import { changeParameters, route } from '../../state/route.ts';
import { type EventList, useEventList } from './event-list.ts';
import { EventsDownload } from './events-download.tsx';
import { ExploreBody } from './explore-body.tsx';
import { type ExplorePlace, readPlace } from './explore-place.ts';
import { ExploreTools } from './explore-tools.tsx';
import { FieldList } from './field-list.tsx';
import { RequestView } from './request-view.tsx';
import { SearchBox } from './search-box.tsx';
import { SqlDialog } from './sql-dialog.tsx';
import { TailView } from './tail-view.tsx';

/** Looking at the events of one source. */
export function ExploreView() {
  const [sources, reload] = useResource(loadSources, []);
  const wanted = route.value.parameters['source'] ?? '';
  const place = readPlace(route.value.parameters);
  if (place.request !== undefined) {
    const { request } = place;
    return (
      <Loaded resource={sources} what="Looking for sources" onRetry={reload}>
        {(list) => (
          <RequestView place={place} request={request} sources={list.map(({ name }) => name)} />
        )}
      </Loaded>
    );
  }
  if (wanted !== '' && place.isLive) return <TailView source={wanted} place={place} />;
  if (wanted !== '') {
    return <Explorer source={wanted} sources={sources.state === 'ready' ? sources.value : []} />;
  }
  return (
    <Loaded resource={sources} what="Looking for sources" onRetry={reload}>
      {(list) => <FirstSource sources={list} />}
    </Loaded>
  );
}

/** Goes on to the source with the most events. */
function FirstSource({ sources }: { readonly sources: readonly NamedSource[] }) {
  const [first] = [...sources].sort((one, other) => (other.events ?? 0) - (one.events ?? 0));
  useEffect(() => {
    if (first !== undefined) changeParameters({ source: first.name }, 'replace');
  }, [first]);
  if (first !== undefined) return null;
  return (
    <Empty title="There is no source yet">
      <p class="muted">A source comes with the first logs that are posted to it.</p>
    </Empty>
  );
}

/** A window over the list. */
type Opened = 'sql' | 'fields' | 'download' | undefined;

type ExplorerProps = { readonly source: string; readonly sources: readonly NamedSource[] };

function Explorer({ source, sources }: ExplorerProps) {
  const place = readPlace(route.value.parameters);
  const [round, setRound] = useState(0);
  const [opened, setOpened] = useState<Opened>();
  const close = (): void => setOpened(undefined);
  const list = useEventList(makeRequest(source, place), place.around, round);
  const [fields, reloadFields] = useFields(source, place, list, round);
  const areFieldsHidden = route.value.parameters['fields'] === 'hidden';
  const switchFields = (): void => {
    if (!isWide.peek()) setOpened('fields');
    else changeParameters({ fields: areFieldsHidden ? undefined : 'hidden' }, 'replace');
  };
  const refresh = (): void => setRound((before) => before + 1);
  useActions(
    () => [
      { title: 'Look again', group: 'Explore', keys: 'r', run: refresh },
      { title: 'Show the SQL', group: 'Explore', run: () => setOpened('sql') },
      ...(place.around === undefined
        ? [{ title: 'Download', group: 'Explore', run: () => setOpened('download') }]
        : []),
    ],
    [place.around === undefined],
  );
  const failure = list.failure.value;
  const parameter = failure?.details.parameter;
  const isAtSearch = parameter === 'search';
  const isAtTime = parameter === 'from' || parameter === 'to';
  const fieldList = <FieldList resource={fields} onRetry={reloadFields} place={place} />;
  return (
    <div class="explore">
      <div class="explore-head">
        <ExploreTools
          source={source}
          sources={sources}
          place={place}
          list={list}
          onRefresh={refresh}
          onFields={switchFields}
          fields={fields.state === 'ready' ? fields.value.fields : []}
          isFieldsShown={isWide.value && !areFieldsHidden}
          timeProblem={isAtTime ? failure : undefined}
          onSql={() => setOpened('sql')}
          onDownload={() => setOpened('download')}
        />
        <SearchBox search={place.search} problem={isAtSearch ? failure : undefined} />
      </div>
      <div class="explore-parts">
        {isWide.value && !areFieldsHidden && (
          <aside class="explore-side" aria-label="Fields">
            {fieldList}
          </aside>
        )}
        <ExploreBody list={list} place={place} onRetry={refresh} />
      </div>
      {opened === 'sql' && list.query.value !== undefined && (
        <SqlDialog query={list.query.value} onClose={close} />
      )}
      {opened === 'download' && (
        <EventsDownload source={source} place={place} list={list} onClose={close} />
      )}
      {opened === 'fields' && !isWide.value && (
        <Dialog title="Fields" onClose={close}>
          {fieldList}
        </Dialog>
      )}
    </div>
  );
}

function makeRequest(source: string, place: ExplorePlace) {
  const { project, from, to, search, by } = place;
  return {
    ...{ source, from, to },
    ...(project !== '' && { project }),
    ...(search !== '' && { search }),
    ...(by !== '' && { by }),
  };
}

/** The fields of the window that the list is of, as soon as its rows are there. */
function useFields(
  source: string,
  { project, from, to }: ExplorePlace,
  list: EventList,
  round: number,
): readonly [Resource<FieldsAnswer>, () => void] {
  // A search that is wrong has nothing to do with them; a wrong time is shown once.
  const isAtSearch = list.failure.value?.details.parameter === 'search';
  const isAnswered = list.events.value !== undefined || isAtSearch;
  return useResource(
    (signal) =>
      isAnswered ? loadFields({ source, project, from, to }, signal) : new Promise(() => {}),
    [source, project, from, to, round, isAnswered],
  );
}
