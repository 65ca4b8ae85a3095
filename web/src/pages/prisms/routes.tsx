import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { Sort } from '@/design/Table';
import { frame } from '@/shell/root';
import { labelSearch, qualitySearch } from '../quality/search';
import { resultsSearch } from '../results/search';
import { runsSearch } from '../runs/search';

interface PrismsSearch {
  q?: string;
  archived?: 'true' | 'all';
  sort?: Sort;
}

interface NewSearch {
  /** `blank`, `paste`, `pasted`, or the id of an example. */
  from?: string;
  try?: boolean;
  /** Once it is made, a run of it is begun, of this file if there is one. */
  then?: 'run';
  file?: string;
}

interface OverviewSearch {
  /** The question whose answers are shown, if not the main one. */
  question?: string;
}

interface TrySearch {
  /** The version to ask, if not the latest. */
  version?: number;
  /** The result that is shown. */
  result?: string;
  as?: 'go' | 'typescript' | 'python' | 'prismctl';
}

interface EditSearch {
  /** The panel in which the unsaved definition is tried. */
  try?: boolean;
  /** The dialog with the differences, before a version is saved. */
  review?: boolean;
  /** The version to begin from, if not the latest. */
  from?: number;
}

interface SettingsSearch {
  /** The version whose differences to the one before are shown. */
  version?: number;
  as?: 'json';
}

const text = (value: unknown) =>
  (typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined);
const version = (value: unknown) => (Number.isInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined);
const yes = (value: unknown) => value === true || value === 'true' || undefined;
const oneOf = <T extends string>(value: unknown, ...words: T[]) => words.find((word) => word === String(value));

const prism = createRoute({
  getParentRoute: () => frame, path: '/prisms/$prism', component: lazyRouteComponent(() => import('./PrismPage'), 'PrismPage'),
});

// Children are named before they are added: TypeScript does not infer the tree of routes that are made inside addChildren.
const trySearch = (search: Record<string, unknown>): TrySearch => ({
  version: version(search.version), result: text(search.result), as: oneOf(search.as, 'go', 'typescript', 'python', 'prismctl'),
});
/** Try had the address of the overview: one that was kept with what it showed still shows it. */
export function toTry({ params, location }: { params: { prism: string }; location: { search: object } }) {
  const search = trySearch(location.search as Record<string, unknown>);
  if (Object.values(search).some(Boolean)) throw redirect({ to: '/prisms/$prism/try', params, search, replace: true });
}

const overview = createRoute({
  getParentRoute: () => prism,
  path: '/',
  component: lazyRouteComponent(() => import('../overview/Overview'), 'Overview'),
  validateSearch: (search): OverviewSearch => ({ question: text(search.question) }),
  beforeLoad: toTry,
});
const tryIt = createRoute({
  getParentRoute: () => prism,
  path: '/try',
  component: lazyRouteComponent(() => import('./Try'), 'Try'),
  validateSearch: trySearch,
});
const edit = createRoute({
  getParentRoute: () => prism,
  path: '/edit',
  component: lazyRouteComponent(() => import('./Edit'), 'Edit'),
  validateSearch: (search): EditSearch => ({ try: yes(search.try), review: yes(search.review), from: version(search.from) }),
});
const lens =
  createRoute({ getParentRoute: () => prism, path: '/lens', component: lazyRouteComponent(() => import('./Lens'), 'Lens') });
const results = createRoute({
  getParentRoute: () => prism, path: '/results', component: lazyRouteComponent(() => import('./Tabs'), 'ResultsTab'),
  validateSearch: resultsSearch,
});
const runs = createRoute({
  getParentRoute: () => prism, path: '/runs', component: lazyRouteComponent(() => import('./Tabs'), 'RunsTab'),
  validateSearch: runsSearch,
});
const quality = createRoute({
  getParentRoute: () => prism, path: '/quality', component: lazyRouteComponent(() => import('../quality/Quality'), 'Quality'),
  validateSearch: qualitySearch,
});
const label = createRoute({
  getParentRoute: () => prism, path: '/label', component: lazyRouteComponent(() => import('../quality/Label'), 'Label'),
  validateSearch: labelSearch,
});
const settings = createRoute({
  getParentRoute: () => prism,
  path: '/settings',
  component: lazyRouteComponent(() => import('./Settings'), 'Settings'),
  validateSearch: (search): SettingsSearch => ({ version: version(search.version), as: oneOf(search.as, 'json') }),
});

export const prismsRoutes = [
  createRoute({
    getParentRoute: () => frame,
    path: '/prisms',
    component: lazyRouteComponent(() => import('./List'), 'List'),
    validateSearch: (search): PrismsSearch => ({
      q: text(search.q), archived: oneOf(search.archived, 'true', 'all'), sort: text(search.sort),
    }),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: '/prisms/new',
    component: lazyRouteComponent(() => import('./New'), 'New'),
    validateSearch: (search): NewSearch => ({
      from: text(search.from), try: yes(search.try), then: oneOf(search.then, 'run'), file: text(search.file),
    }),
  }),
  prism.addChildren([overview, tryIt, edit, lens, results, runs, quality, label, settings]),
] as const;
