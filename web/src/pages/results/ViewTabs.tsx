import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useCan } from '@/api';
import { Button, Checkbox, ErrorNote, Input, Popover, Tabs, toast } from '@/design';
import { filtered, type ResultsSearch } from './search';
import type { SetSearch } from './useSearch';
import {
  changed, deleteView, filtersOf, firstOf, saveView, searchOf, useRenewViews, useViews, type View, viewsOf,
} from './views';

interface Props {
  search: ResultsSearch;
  set: SetSearch;
  /** The prism of the page, if it is of one. */
  fixed: string | undefined;
  /** Whether labels are searched. */
  searched: boolean;
}

/** What everybody finds without saving it. */
const given = (labels: boolean): { id: string; name: string; filters: View['filters'] }[] => [
  { id: 'all', name: 'All', filters: {} },
  { id: 'mine', name: 'Mine', filters: { assignee: 'me' } },
  ...(labels ? [{ id: 'unreviewed', name: 'Unreviewed', filters: { where: ['@labelled:is:no'] } }] : []),
  { id: 'failed', name: 'Failed', filters: { status: 'failed' as const } },
];

/** The views of results as tabs, which the account shares. A page without filters begins with the default one. */
export function ViewTabs({ search, set, fixed, searched }: Props) {
  const mayLabel = useCan('label');
  const views = useViews().data ?? [];
  const first = firstOf(views, fixed);
  const begins = search.view === undefined && search.open === undefined && search.sort === undefined && !filtered(search)
    && (fixed !== undefined || search.prism === undefined);
  useEffect(() => { if (begins && first) void set(searchOf(first), true); }, [begins, first, set]);
  const shown = [...given(fixed !== undefined && searched), ...viewsOf(views, fixed)];
  const own = views.find(({ id }) => id === search.view);
  const at = search.view ?? (filtered(search) ? undefined : 'all');
  return (
    <div className="views">
      <Tabs label="Views" tabs={shown.map((view) => ({
        label: view.name, to: '.', current: view.id === at, resetScroll: false,
        search: (old: object) => ({ ...old, ...searchOf(view), ...(fixed !== undefined && { prism: undefined }) }),
      }))} />
      {mayLabel && (
        <Popover label={own ? `View ${own.name}` : 'New view'} align="end" button={own ? 'View' : 'Save view'}
          icon={own ? 'more' : 'plus'} className="button quiet small">
          {(close) => <Editor {...{ search, set, own, close }} />}
        </Popover>
      )}
    </div>
  );
}

/** Saves what is shown as a new view, or changes the view that is open. */
function Editor({ search, set, own, close }: Omit<Props, 'fixed' | 'searched'> & { own: View | undefined; close: () => void }) {
  const [name, setName] = useState(own?.name ?? '');
  const [first, setFirst] = useState(own?.default ?? false);
  const renew = useRenewViews();
  const done = async (view: View, said: string) => {
    await renew();
    await set({ view: view.id }, true);
    toast(said);
    close();
  };
  const body = { name: name.trim(), default: first, columns: own?.columns ?? null, filters: filtersOf(search) };
  const make = useMutation({
    mutationFn: (id: string | undefined) => saveView(id, body), onSuccess: (view) => done(view, `View ${view.name} saved.`),
  });
  const remove = useMutation({
    mutationFn: () => deleteView(own!.id),
    onSuccess: async () => {
      await set({ view: undefined }, true);
      await renew();
      close();
    },
  });
  const ready = body.name !== '';
  return (
    <form className="stack-2" onSubmit={(event) => { event.preventDefault(); if (ready) make.mutate(own?.id); }}>
      <Input label="Name" value={name} maxLength={200} onChange={({ target }) => setName(target.value)} />
      <Checkbox label="Begin with this view" checked={first} onChange={({ target }) => setFirst(target.checked)} />
      <p className="soft">
        Everybody in the account finds it{own && changed(own, search) && ', with the filters that are set now'}.
      </p>
      <div className="row">
        <Button small type="submit" variant="primary" disabled={!ready} busy={make.isPending}>
          {own ? 'Save' : 'Save view'}
        </Button>
        {own && (
          <>
            <Button small disabled={!ready || body.name === own.name} onClick={() => make.mutate(undefined)}>Save as new</Button>
            <Button small icon="trash" busy={remove.isPending} onClick={() => remove.mutate()}>Delete view</Button>
          </>
        )}
      </div>
      <ErrorNote error={make.error ?? remove.error} title="The view was not changed." />
    </form>
  );
}
