import { useEffect, useState } from 'preact/hooks';
import {
  type EndpointInfo,
  type EndpointList,
  type EndpointProblem,
  loadEndpoints,
} from '../../api/endpoints.ts';
import { Field } from '../../components/field.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { useActions } from '../../state/actions.ts';
import { useResource } from '../../state/resource.ts';
import { changeParameters, formatFragment, openView, route } from '../../state/route.ts';
import { drafts, isChanged, keepDraft } from './drafts.ts';
import { EndpointDetail } from './endpoint-detail.tsx';

/** Saved queries: what there are, and one of them to call. */
export function EndpointsView() {
  const [resource, reload] = useResource(loadEndpoints, []);
  return (
    <Loaded resource={resource} what="Loading the saved queries" onRetry={reload}>
      {(list) => <Endpoints list={list} onChange={reload} />}
    </Loaded>
  );
}

function Endpoints(props: { readonly list: EndpointList; readonly onChange: () => void }) {
  const { list, onChange } = props;
  const [text, setText] = useState('');
  const { endpoint: wanted } = route.value.parameters;
  const chosen = list.endpoints.find(({ name, id }) => name === wanted || id === wanted);
  useActions(
    () => [
      {
        ...{ title: 'Find a saved query', group: 'Endpoints', keys: '/' },
        run: () => document.getElementById('endpoint-search')?.focus(),
      },
    ],
    [],
  );
  useEffect(() => {
    document.querySelector('.endpoint-list [aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const found = list.endpoints.filter((one) => hasWords(one, text));
  return (
    <div class={`endpoints${chosen === undefined ? '' : ' has-chosen'}`}>
      <aside class="endpoint-list" aria-label="Saved queries">
        <Field label="Find a saved query" isLabelHidden>
          <input
            class="input"
            id="endpoint-search"
            type="search"
            placeholder="Find a saved query"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </Field>
        <FoundEndpoints endpoints={found} chosen={chosen?.name} />
        <Problems problems={list.problems} />
      </aside>
      <section class="endpoint-detail" aria-label="The chosen query">
        {chosen !== undefined && (
          <EndpointDetail
            key={chosen.id ?? chosen.name}
            endpoint={chosen}
            onChange={(name) => {
              // By its id it is found under its old name and its new one.
              if (name === undefined) {
                if (chosen.id !== undefined) keepDraft(chosen.id, undefined);
                openView('endpoints');
              } else if (name !== chosen.name) changeParameters({ endpoint: chosen.id }, 'replace');
              onChange();
            }}
          />
        )}
        {chosen === undefined && wanted !== undefined && (
          <Empty title={`There is no saved query ${wanted}`} />
        )}
        {chosen === undefined && wanted === undefined && (
          <Empty title="Choose a saved query">
            <p class="muted">Its parameters, its rows and its call are shown here.</p>
          </Empty>
        )}
      </section>
    </div>
  );
}

function FoundEndpoints(props: {
  readonly endpoints: readonly EndpointInfo[];
  readonly chosen: string | undefined;
}) {
  const { endpoints: found, chosen } = props;
  return (
    <>
      {groupByOrigin(found).map(([origin, endpoints]) => (
        <section key={origin}>
          <h2 class="list-head">{origin}</h2>
          <ul>
            {endpoints.map(({ id, name, description }) => (
              <li key={name}>
                <a
                  href={formatFragment('endpoints', { endpoint: name })}
                  aria-current={name === chosen ? 'true' : undefined}
                >
                  <span class="endpoint-name">
                    {name} {hasDraft(id) && <span class="badge warn">not saved</span>}
                  </span>
                  <span class="muted">{description}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {found.length === 0 && <p class="muted">None has these letters.</p>}
    </>
  );
}

/** Whether a text was typed for it that is not saved. */
function hasDraft(id: string | undefined): boolean {
  const draft = id === undefined ? undefined : drafts.value.get(id);
  return draft !== undefined && isChanged(draft);
}

/** Definitions that are not in force as they are written. */
function Problems({ problems }: { readonly problems: readonly EndpointProblem[] }) {
  if (problems.length === 0) return null;
  return (
    <section class="endpoint-problems">
      <h2 class="list-head">Not in force</h2>
      <ul>
        {problems.map(({ file, name, message }) => (
          <li key={`${file} ${name} ${message}`}>
            <span class="mono">{file ?? name}</span> <span class="muted">{message}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const ORIGINS: Readonly<Record<string, string>> = {
  'built-in': 'Built in',
  folder: 'From the folder of definitions',
  api: 'Made over HTTP',
};

function groupByOrigin(
  endpoints: readonly EndpointInfo[],
): readonly (readonly [string, readonly EndpointInfo[]])[] {
  const groups = new Map<string, EndpointInfo[]>();
  for (const endpoint of endpoints) {
    const { origin } = endpoint;
    const title = origin === undefined ? 'Saved queries' : (ORIGINS[origin] ?? origin);
    groups.set(title, [...(groups.get(title) ?? []), endpoint]);
  }
  return [...groups];
}

function hasWords({ name, description }: EndpointInfo, text: string): boolean {
  const all = `${name} ${description}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
