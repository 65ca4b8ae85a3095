import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api, ask, useKeys, useModels, usePrisms } from '@/api';
import { AreaChart } from '@/charts';
import { byDay, dayAfter, days, today, totals } from '@/data/usage';
import {
  Button, count, Empty, ErrorNote, Input, money, Page, Section, Select, short, Skeleton, Tabs, Toolbar, useNow,
} from '@/design';
import { groupings, type UsageSearch } from './search';
import { Sums } from './Sums';

const route = getRouteApi('/frame/usage');

const words = { day: 'By day', prism: 'By prism', model: 'By model', key: 'By key' };
const periods = [['7', 'Last 7 days'], ['30', 'Last 30 days'], ['90', 'Last 90 days'], ['365', 'Last 365 days']] as const;

export function Usage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  useNow(); // a new day moves the period
  const last = search.to ?? today();
  const from = search.from ?? dayAfter(last, -29);
  const by = search.by ?? 'day';
  const set = (change: Partial<UsageSearch>) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true });

  const query = { from, to: dayAfter(last, 1), prism: search.prism, model: search.model, key_id: search.key };
  const sums = (grouping: (typeof groupings)[number]) => ({
    queryKey: ['usage', query, grouping],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      ask(api.GET('/v1/usage', { params: { query: { ...query, by: grouping } }, signal })),
    placeholderData: keepPreviousData,
  });
  const daily = useQuery(sums('day'));
  const grouped = useQuery(sums(by));
  const filtered = search.prism || search.model || search.key;

  return (
    <Page title="Usage" lead="What models were asked and answered. Days are UTC." tabs={
      <Tabs label="Sums" tabs={groupings.map((grouping) => ({
        label: words[grouping], to: '/usage' as const,
        search: { ...search, by: grouping === 'day' ? undefined : grouping, sort: undefined }, current: grouping === by,
      }))} />
    }>
      <Filters search={search} from={from} last={last} set={set} />
      <ErrorNote error={daily.error ?? grouped.error} onRetry={() => { void daily.refetch(); void grouped.refetch(); }} />
      {daily.data ? (
        <>
          <Charts {...{ from: daily.data.from, to: daily.data.to, sums: daily.data.data }} />
          {grouped.data && (
            <Section title={words[by]}>
              <Sums by={by} totals={by === 'day' ? byDay(grouped.data.data, grouped.data.from, grouped.data.to).reverse()
                : totals(grouped.data.data)} search={search}
                sort={search.sort} onSort={(sort) => set({ sort })} stale={grouped.isPlaceholderData}
                empty={
                  <Empty title={filtered ? 'Nothing matches these filters' : 'No results in this period'}
                    drawing={filtered ? undefined : 'days'}
                    action={filtered ? (
                      <Button onClick={() => set({ prism: undefined, model: undefined, key: undefined })}>Clear filters</Button>
                    ) : undefined}
                    command={filtered ? undefined : 'prismctl usage --by prism'}>
                    Each result counts on the day on which it was saved, also after it is deleted.
                  </Empty>
                } />
              {grouped.data.more && <p className="soft">These have the most results. The filters find others.</p>}
            </Section>
          )}
        </>
      ) : !daily.error && (
        <>
          <div className="usage-charts"><Skeleton shape="chart" /><Skeleton shape="chart" /><Skeleton shape="chart" /></div>
          <Skeleton shape="table" lines={6} />
        </>
      )}
    </Page>
  );
}

interface FiltersProps {
  search: UsageSearch;
  from: string;
  last: string;
  set: (change: Partial<UsageSearch>) => void;
}

function Filters({ search, from, last, set }: FiltersProps) {
  const prisms = usePrisms();
  const models = useModels();
  const keys = useKeys();
  const span = String(days(from, last).length + 1);
  const period = last === today() && periods.some(([n]) => n === span) ? span : 'own';
  return (
    <Toolbar label="Filters">
      <Select label="Period" value={period} options={[...periods, ...(period === 'own' ? [['own', 'From and to'] as const] : [])]}
        onChange={(event) => set({
          from: event.target.value === '30' ? undefined : dayAfter(today(), 1 - Number(event.target.value)), to: undefined,
        })} />
      <Input label="From" type="date" value={from} max={last} min={dayAfter(last, -365)}
        onChange={(event) => event.target.value && set({ from: event.target.value, to: last })} />
      <Input label="To" type="date" value={last} max={today()} min={from}
        onChange={(event) => event.target.value && set({ from, to: event.target.value })} />
      <Select label="Prism" value={search.prism ?? ''} onChange={(event) => set({ prism: event.target.value || undefined })}
        options={choices('All prisms', search.prism, prisms.data?.map((p) => [p.slug, p.name ?? p.slug]))} />
      <Select label="Model" value={search.model ?? ''} onChange={(event) => set({ model: event.target.value || undefined })}
        options={choices('All models', search.model, models.data?.map((m) => [m.name, m.name]))} />
      {(keys.data || search.key) && (
        <Select label="Key" value={search.key ?? ''} onChange={(event) => set({ key: event.target.value || undefined })}
          options={choices('All keys', search.key, keys.data?.map((k) => [k.id, k.name]))} />
      )}
    </Toolbar>
  );
}

/** The options of a filter; a value of the address stays among them while the list loads, or when it is not in it. */
function choices(all: string, value: string | undefined, list: [string, string][] = []): [string, string][] {
  const known = !value || list.some(([one]) => one === value);
  return [['', all], ...list, ...(known ? [] : [[value, value] as [string, string]])];
}

function Charts({ sums, from, to }: { sums: Parameters<typeof byDay>[0]; from: string; to: string }) {
  const list = byDay(sums, from, to);
  const times = list.map((total) => total.name!);
  const currencies = [...new Set(list.flatMap((total) => Object.keys(total.costs)))].slice(0, 4);
  return (
    <div className="usage-charts">
      <AreaChart title="Results" label={`Results by day, ${count(list.reduce((n, t) => n + t.results, 0), 'result')}`}
        times={times}
        series={[
          { label: 'Results', values: list.map((t) => t.results) },
          { label: 'Failed', values: list.map((t) => t.failed), bad: true },
        ]} />
      <AreaChart title="Tokens" label="Tokens by day" times={times} format={short}
        series={[
          { label: 'Input', values: list.map((t) => t.inputTokens) },
          { label: 'Output', values: list.map((t) => t.outputTokens) },
        ]} />
      {currencies.length > 0 && (
        <AreaChart title="Cost" label="Cost by day" times={times}
          format={(value) => (currencies.length === 1 ? money(value, currencies[0]!) : String(value))}
          series={currencies.map((currency) => ({ label: currency, values: list.map((t) => t.costs[currency] ?? 0) }))} />
      )}
    </div>
  );
}
