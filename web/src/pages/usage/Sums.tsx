import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useKeys } from '@/api';
import { dayAfter, type Total } from '@/data/usage';
import { type Column, Num, percent, type Sort, Table } from '@/design';
import type { UsageSearch } from './search';
import './usage.css';

interface Props {
  by: NonNullable<UsageSearch['by']>;
  totals: Total[];
  search: UsageSearch;
  sort: Sort;
  onSort: (sort: Sort) => void;
  stale: boolean;
  empty: ReactNode;
}

/** The sums as a table; the last row is their total. */
export function Sums({ by, totals, search, sort, onSort, stale, empty }: Props) {
  const keys = useKeys();
  const failures = totals.some((total) => total.failed > 0);
  const some = totals.some((total) => total.results > 0);
  const nameOf = ({ name }: Total): string => {
    if (name === null) return 'not known';
    return by === 'key' ? (keys.data?.find((key) => key.id === name)?.name ?? name) : name;
  };
  // A name leads to the results behind it.
  const link = (total: Total) => {
    const of = { prism: search.prism, model: search.model, key_id: search.key };
    const period = by === 'day'
      ? { from: `${total.name}T00:00:00.000Z`, to: `${dayAfter(total.name!, 1)}T00:00:00.000Z` }
      : { from: search.from && `${search.from}T00:00:00.000Z`, to: search.to && `${dayAfter(search.to, 1)}T00:00:00.000Z` };
    const one = by === 'day' ? {} : { [by === 'key' ? 'key_id' : by]: total.name };
    return <Link to="/results" search={{ ...of, ...period, ...one }}>{nameOf(total)}</Link>;
  };
  const currencies = [...new Set(totals.flatMap((total) => Object.keys(total.costs)))];
  const columns: Column<Total>[] = [
    {
      id: 'name', head: { day: 'Day', prism: 'Prism', model: 'Model', key: 'Key' }[by],
      cell: (t) => (t.name === null || t.results === 0 ? nameOf(t) : link(t)), sort: nameOf,
    },
    { id: 'results', head: 'Results', align: 'end', cell: (t) => <Num value={t.results} />, sort: (t) => t.results },
    {
      id: 'failed', head: 'Failed', align: 'end', sort: (t) => t.failed,
      cell: (t) => (
        <>
          <Num value={t.failed} />
          {failures && <span className="soft usage-part"> {t.failed > 0 && percent(t.failed / t.results)}</span>}
        </>
      ),
    },
    {
      id: 'input', head: 'Input tokens', align: 'end', cell: (t) => <Num value={t.inputTokens} />, sort: (t) => t.inputTokens,
      show: 'wide',
    },
    {
      id: 'output', head: 'Output tokens', align: 'end', cell: (t) => <Num value={t.outputTokens} />, sort: (t) => t.outputTokens,
      show: 'wide',
    },
    ...(currencies.length ? currencies : [null]).map((currency): Column<Total> => ({
      id: `cost${currency ?? ''}`, head: currencies.length > 1 ? `Cost, ${currency}` : 'Cost', align: 'end',
      cell: (t) => <Num value={currency ? t.costs[currency] : null} currency={currency} />,
      sort: (t) => (currency ? t.costs[currency] : null),
    })),
  ];
  return (
    <Table label={`Usage by ${by}`} columns={columns} rows={some ? totals : []} rowKey={(t) => t.name ?? ''} sort={sort}
      onSort={onSort} stale={stale} empty={empty} />
  );
}
