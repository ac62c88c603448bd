import type { ComponentType } from 'preact';
import { VIEW_NAMES, type ViewName } from '../state/route.ts';
import { may } from '../state/session.ts';

/** One view of the page. Its program comes when it is opened first. */
export type View = {
  readonly name: ViewName;
  readonly title: string;
  /** Pressed after `g` it opens the view. */
  readonly key: string;
  /** Whether the token may use it; a view that it may not is not offered. */
  readonly isOffered: () => boolean;
  readonly load: () => Promise<ComponentType>;
};

const BY_NAME: Readonly<Record<ViewName, Omit<View, 'name'>>> = {
  explore: {
    title: 'Explore',
    key: 'e',
    isOffered: () => may('explore'),
    load: async () => (await import('./explore/explore-view.tsx')).ExploreView,
  },
  query: {
    title: 'Query',
    key: 'q',
    isOffered: () => may('explore'),
    load: async () => (await import('./query/query-view.tsx')).QueryView,
  },
  endpoints: {
    title: 'Endpoints',
    key: 'n',
    isOffered: () => may('query') || may('manage'),
    load: async () => (await import('./endpoints/endpoints-view.tsx')).EndpointsView,
  },
  service: {
    title: 'Service',
    key: 's',
    isOffered: () => may('manage'),
    load: async () => (await import('./service/service-view.tsx')).ServiceView,
  },
};

const VIEWS: readonly View[] = VIEW_NAMES.map((name) => ({ name, ...BY_NAME[name] }));

/** Those that the token may use. */
export function offeredViews(): readonly View[] {
  return VIEWS.filter(({ isOffered }) => isOffered());
}
