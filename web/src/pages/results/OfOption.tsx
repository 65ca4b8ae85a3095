import { useState } from 'react';
import { itemsOf, type Question } from '@/answers/words';
import { Checkbox, Pick } from '@/design';
import { kindOf } from '@/questions';
import { parse, put, valueOf } from './conditions';
import { Part } from './Part';
import type { FilterProps } from './useSearch';

type Props = Omit<FilterProps, 'fixed'>;

/** Of a question of which any number of options can be right: the probability of one of them, and an order by it. */
export function OfOption({ question, search: { where, sort }, set }: Props & { question: Question }) {
  const before = `${question.key}.`;
  const named = [...(where ?? []).map((text) => parse(text).name), sort?.replace(/^-/, '') ?? '']
    .find((name) => name.startsWith(before))?.slice(before.length);
  const [option, setOption] = useState(named ?? '');
  const name = before + option;
  const bound = (operator: 'from' | 'to') => (
    <Part key={`${name} ${operator}`} label={operator === 'from' ? 'From' : 'To'} value={valueOf(where, name, operator)}
      onValue={(value) => set((now) => ({ where: put(now.where, name, operator, value) }), true)} />
  );
  return (
    <>
      <Pick label="Probability of" value={option} onChange={setOption}
        options={[['', 'Choose an option …'], ...itemsOf(question).map(({ key, label }): [string, string] => [key, label])]} />
      {option && (
        <>
          <fieldset className="filter-bounds">
            <legend>{kindOf(question).probability}</legend>
            {bound('from')}{bound('to')}
          </fieldset>
          <Checkbox label="Sort by it, the most probable first" checked={sort === `-${name}`}
            onChange={({ target }) => set({ sort: target.checked ? `-${name}` : undefined }, true)} />
        </>
      )}
    </>
  );
}
