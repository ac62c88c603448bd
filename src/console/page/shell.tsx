import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { ask } from './api/client.ts';
import { loadSources } from './api/explore.ts';
import { Button } from './components/button.tsx';
import { HelpSheet } from './components/help-sheet.tsx';
import { Notice } from './components/notice.tsx';
import { Palette } from './components/palette.tsx';
import { Empty, Failure, Loading } from './components/states.tsx';
import { TokenPrompt } from './components/token-prompt.tsx';
import { type Action, useActions } from './state/actions.ts';
import { useResource } from './state/resource.ts';
import { formatFragment, openFirst, openView, viewName } from './state/route.ts';
import { closeSession, grant, may, session } from './state/session.ts';
import { isDark, switchTheme, theme } from './state/theme.ts';
import { offeredViews, type View } from './views/views.ts';

/** The whole page: it asks for a token, and then shows the header and one view. */
export function Shell() {
  const { state } = session.value;
  return (
    <>
      {state === 'none' && <TokenPrompt />}
      {state === 'asking' && <Loading what="Asking the service" />}
      {state === 'open' && <OpenPage />}
      <Notice />
    </>
  );
}

function OpenPage() {
  const opened = useSignal<'palette' | 'help' | undefined>(undefined);
  const close = (): void => {
    opened.value = undefined;
  };
  const views = offeredViews();
  const [firstView] = views;
  useLayoutEffect(() => {
    if (firstView !== undefined) openFirst(firstView.name);
  }, [firstView]);
  useActions(
    () => [
      {
        ...{ title: 'Find everything', group: 'Page', keys: 'Ctrl+k', isOnlyKeys: true },
        run: () => {
          opened.value = 'palette';
        },
      },
      {
        ...{ title: 'Show the keys', group: 'Page', keys: '?' },
        run: () => {
          opened.value = 'help';
        },
      },
      { title: 'Switch dark and light', group: 'Page', keys: 'g t', run: switchTheme },
      { title: 'Forget the token', group: 'Page', run: () => closeSession() },
      ...views.map(({ title, name, key }) => ({
        ...{ title: `Open ${title}`, group: 'Views', keys: `g ${key}` },
        run: () => openView(name),
      })),
    ],
    [views.length],
  );
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('view')?.focus()}>
        Skip to the content
      </button>
      <Header
        views={views}
        onPalette={() => {
          opened.value = 'palette';
        }}
        onHelp={() => {
          opened.value = 'help';
        }}
      />
      <main class="view" id="view" tabIndex={-1}>
        <h1 class="unseen">
          {views.find(({ name }) => name === viewName.value)?.title ?? 'Not for your token'}
        </h1>
        <CurrentView views={views} />
      </main>
      {opened.value === 'palette' && <FilledPalette onClose={close} />}
      {opened.value === 'help' && <HelpSheet onClose={close} />}
    </div>
  );
}

function Header(props: {
  readonly views: readonly View[];
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}) {
  const { views, onPalette, onHelp } = props;
  const current = grant.value;
  const themeText = theme.value === 'system' ? 'as the system' : theme.value;
  const themeIcon = theme.value === 'system' ? 'system' : isDark.value ? 'moon' : 'sun';
  return (
    <header class="header">
      <span class="brand">weir</span>
      <nav class="views" aria-label="Views">
        {views.map(({ name, title }) => (
          <a
            key={name}
            href={formatFragment(name)}
            aria-current={viewName.value === name ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <div class="header-tools">
        <Button kind="quiet" icon="search" label="Find (Ctrl+K)" onClick={onPalette} />
        <Button kind="quiet" icon="keys" label="Keys (?)" onClick={onHelp} />
        <Button
          kind="quiet"
          icon={themeIcon}
          label={`Colours: ${themeText}`}
          onClick={switchTheme}
        />
        <Button
          kind="quiet"
          icon="close"
          label={`Forget the token ${current?.name ?? ''}`}
          onClick={() => closeSession()}
        />
      </div>
    </header>
  );
}

/** The view of the address, as soon as its program is there. */
function CurrentView({ views }: { readonly views: readonly View[] }) {
  const view = views.find(({ name }) => name === viewName.value);
  const [loaded, setLoaded] = useState<{ readonly name: string; readonly Body: ComponentType }>();
  const [resource, reload] = useResource(async () => {
    if (view !== undefined) setLoaded({ name: view.name, Body: await view.load() });
  }, [view]);
  useEffect(() => {
    document.title = view === undefined ? 'weir' : `${view.title} · weir`;
  }, [view]);
  if (view === undefined) return <NotOffered views={views} />;
  if (resource.state === 'failed') return <Failure error={resource.error} onRetry={reload} />;
  if (loaded === undefined || loaded.name !== view.name) return <Loading />;
  return <loaded.Body />;
}

function NotOffered({ views }: { readonly views: readonly View[] }) {
  const [first] = views;
  if (first === undefined) {
    return (
      <Empty title="Your token only posts logs">
        <p>To look at them, open this page with a token that has the scope manage or query.</p>
      </Empty>
    );
  }
  return (
    <Empty title="Your token may not open this view">
      <p>
        It may open <a href={formatFragment(first.name)}>{first.title}</a>.
      </p>
    </Empty>
  );
}

type Named = { readonly name: string };

/** The palette with the sources and endpoints that the token sees. */
function FilledPalette({ onClose }: { readonly onClose: () => void }) {
  const [endpoints] = useResource(
    (signal) => ask<{ result: Named[] }>('api/endpoints', { signal }),
    [],
  );
  const [sources] = useResource(
    (signal) => (may('explore') ? loadSources(signal) : Promise.resolve([])),
    [],
  );
  const more: Action[] = [];
  if (sources.state === 'ready') {
    for (const { name } of sources.value) {
      const run = () => openView('explore', { source: name });
      more.push({ title: name, group: 'Source', run });
    }
  }
  if (endpoints.state === 'ready') {
    for (const { name } of namesIn(endpoints.value)) {
      const run = () => openView('endpoints', { endpoint: name });
      more.push({ title: name, group: 'Endpoint', run });
    }
  }
  return <Palette more={more} onClose={onClose} />;
}

/** The profile `supabase` lists sources without an object around them. */
function namesIn(
  value: { readonly result: readonly Named[] } | readonly Named[],
): readonly Named[] {
  return 'result' in value ? value.result : value;
}
