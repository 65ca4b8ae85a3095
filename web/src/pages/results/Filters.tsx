import { useRef } from 'react';
import { Dot } from '@/answers/Chip';
import { hasHues } from '@/answers/words';
import { useKeyNames, usePrism } from '@/data/results';
import { useRuns } from '@/data/runs';
import { Icon, Popover } from '@/design';
import { useActions } from '@/shell/actions';
import { type About, chipsOf, chipText, type FilterChip } from './chips';
import { useAssigneeNames } from './comments';
import { AddFilter, Form } from './FilterForms';
import { clear, type ResultsSearch } from './search';
import type { FilterProps } from './useSearch';

/** The filters of results as chips, and what adds one. Each is in the address. */
export function Filters({ search, set, fixed = false }: FilterProps) {
  const add = useRef<HTMLButtonElement>(null);
  const { data: prism } = usePrism(search.prism);
  const keys = useKeyNames();
  const members = useAssigneeNames();
  const runs = useRuns({}, search.run !== undefined).data?.pages.flatMap((page) => page.data) ?? [];
  const run = (id: string) => runs.find((one) => one.id === id)?.name ?? `${id.slice(0, 8)}…`;
  const of = (names: Map<string, string>) => (id: string) => names.get(id) ?? `${id.slice(0, 8)}…`;
  const chips = chipsOf(search, { prism, run, key: of(keys), assignee: of(members) }, fixed);
  useActions([
    { id: 'filter', group: 'Results', label: 'Filter results', keys: '/', run: () => add.current?.click() },
    {
      id: 'failed', group: 'Results', label: 'Show failed results', words: 'filter status', run: () => set({ status: 'failed' }),
    },
    { id: 'unfilter', group: 'Results', label: 'Clear the filters', run: () => set(clear) },
  ]);
  return (
    <div className="filters" role="group" aria-label="Filters">
      {chips.map((chip) => <Chip key={chip.id} {...{ chip, search, set }} />)}
      <Popover ref={add} label="Add a filter" button="Filter" icon="plus" className="button quiet small filter-add">
        {(close) => <AddFilter {...{ search, set, fixed, prism, close }} />}
      </Popover>
    </div>
  );
}

/** A filter that is set: a press changes it, and the cross takes it away. */
function Chip({ chip, search, set }: { chip: FilterChip; search: ResultsSearch; set: FilterProps['set'] }) {
  const text = chipText(chip);
  const words = (
    <>
      <span className="soft">{chip.name}{chip.verb && ` ${chip.verb}`}</span>
      {chip.values.map(({ words: value, option }, index) => (
        <span key={value} className="filter-value">
          {index > 0 && <span className="soft">or </span>}
          {option && hasHues(chip.question) && <><Dot question={chip.question} option={option} /> </>}
          {value}
        </span>
      ))}
    </>
  );
  return (
    <span className="filter">
      {changes(chip.about)
        ? (
          <Popover label={`Change the filter: ${text}`} button={words} className="filter-words">
            {(close) => <Form about={chip.about} {...{ search, set, close }} />}
          </Popover>
        )
        : <span className="filter-words">{words}</span>}
      <button type="button" className="filter-drop" onClick={() => set(chip.without)} aria-label={`Remove the filter: ${text}`}>
        <Icon name="close" />
      </button>
    </span>
  );
}

const changes = (about: About) => about !== 'other';
