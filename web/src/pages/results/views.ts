import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, ask, askAll, type Schemas } from '@/api';
import { clear, compact, type ResultsSearch, resultsSearch } from './search';

export type View = Schemas['View'];

/** What a view keeps of the address: the filters and the order. */
export function filtersOf({ open: _, view: __, ...filters }: ResultsSearch): View['filters'] {
  return compact(filters) as View['filters'];
}

/** The address of a view: its filters, and none besides. */
export const searchOf = ({ id, filters }: Pick<View, 'id' | 'filters'>): ResultsSearch =>
  ({ ...clear, ...resultsSearch(filters as Record<string, unknown>), view: id, open: undefined });

/** Whether the address shows something else than its view. */
export const changed = (view: View, search: ResultsSearch): boolean => {
  const sorted = (filters: object) => JSON.stringify(Object.entries(compact(filters)).sort(([a], [b]) => a.localeCompare(b)));
  return sorted(filtersOf(search)) !== sorted(filtersOf(resultsSearch(view.filters as Record<string, unknown>)));
};

/** The views of the account that a page shows, by their names: that of a prism has its own. */
export function viewsOf(views: View[], prism: string | undefined): View[] {
  return views.filter(({ filters }) => prism === undefined || filters.prism === prism)
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** The view that a page begins with. */
export const firstOf = (views: View[], prism: string | undefined): View | undefined =>
  views.find((view) => view.default && view.filters.prism === prism);

export function useViews() {
  return useQuery({
    queryKey: ['views'], staleTime: 30_000,
    queryFn: ({ signal }) =>
      askAll((cursor) => ask(api.GET('/v1/views', { params: { query: { limit: 100, cursor } }, signal }))),
  });
}

/** Saves a new view, or what is new of one. */
export async function saveView(id: string | undefined, body: Schemas['NewView']): Promise<View> {
  return id === undefined ? ask(api.POST('/v1/views', { body }))
    : ask(api.PUT('/v1/views/{view_id}', { params: { path: { view_id: id } }, body }));
}

export async function deleteView(id: string): Promise<void> {
  await ask(api.DELETE('/v1/views/{view_id}', { params: { path: { view_id: id } } }));
}

/** Reads the views again after a change. */
export function useRenewViews() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ['views'] });
}
