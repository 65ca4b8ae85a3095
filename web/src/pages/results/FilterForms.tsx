import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { Dot } from '@/answers/Chip';
import { hasHues, type Question, titleOf } from '@/answers/words';
import { type Schemas, useModels, usePrisms } from '@/api';
import { type Counts, isSearched, useCounts, useKeyNames, usePrism } from '@/data/results';
import { useRuns } from '@/data/runs';
import { Button, Input, onKeys, Pick as Picked, Select, shown, useTyped } from '@/design';
import { kindOf } from '@/questions';
import { type About, aboutsOf, elsewhere, nameOf, withoutPrism } from './chips';
import { useAssigneeNames } from './comments';
import { labelStates, put, valueOf } from './conditions';
import { OfOption } from './OfOption';
import { Part } from './Part';
import { compact, fromLocal, listQuery, localTime, type ResultsSearch, spanFrom, spans } from './search';
import type { FilterProps } from './useSearch';
import { few, type ValueProps, Values } from './Values';

interface Props extends FilterProps {
  close: () => void;
}

/** What can be filtered by, words first; then the form of what was chosen. */
export function AddFilter({ search, set, fixed = false, prism, close }: Props & { prism: Schemas['Prism'] | undefined }) {
  const [about, setAbout] = useState<About>();
  if (about) {
    return (
      <>
        <Button variant="quiet" small icon="left" onClick={() => setAbout(undefined)}>All filters</Button>
        <Form {...{ about, search, set, close }} />
      </>
    );
  }
  return (
    <>
      {isSearched(prism) ? <Words {...{ search, set, close }} />
        : <p className="soft">This prism is left out of searches: its texts and answers are not searched, counted or sorted.</p>}
      <ul className="pop-list" aria-label="Filters">
        {aboutsOf(prism, fixed).map((one) => (
          <li key={one}><button type="button" onClick={() => setAbout(one)}>{nameOf(one)}</button></li>
        ))}
      </ul>
      {!prism && <p className="soft">Choose a prism to filter by its answers.</p>}
    </>
  );
}

/** The form of one filter. What is chosen in it holds at once; what is typed, by Enter or when it is left. */
export function Form({ about, search, set, close }: Props & { about: About }): ReactNode {
  const { data: prism } = usePrism(search.prism);
  const one = { search, set, close };
  switch (about) {
    case 'q': return <Words {...one} />;
    case 'prism': return <Prisms {...one} />;
    case 'status': case 'version': case 'model': return <Counted {...one} about={about} />;
    case 'key_id': return <Keys {...one} />;
    case 'assignee': return <Assignees {...one} />;
    case 'run': return <Runs {...one} />;
    case 'ref': return (
      <Typed label="Reference, exactly as it was sent (ref)" value={search.ref}
        onValue={(ref) => { set({ ref }); close(); }} />
    );
    case 'time': return <Times {...one} />;
    case 'labelled': return <Labelled {...one} />;
    case 'other': return null;
    default: {
      const question = prism?.version.questions.find(({ key }) => `question ${key}` === about);
      return question ? <Answer {...one} question={question} /> : <p className="soft">The newest version does not ask this.</p>;
    }
  }
}

function Words({ search, set, close }: Props) {
  return (
    <Typed label="Words in the text" value={search.q} placeholder={'refund "charged twice" -spam'}
      hint='All of them; "in order", -without, or, begin*' onValue={(q) => { set({ q }); close(); }} />
  );
}

interface TypedProps {
  label: string;
  value: string | undefined;
  onValue: (value: string | undefined) => void;
  placeholder?: string;
  hint?: string;
}

/** A text that holds by Enter. */
function Typed({ label, value, onValue, placeholder, hint }: TypedProps) {
  const [typed, setTyped] = useState(value ?? '');
  const tell = () => onValue(typed.trim() || undefined);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    tell();
  };
  return (
    <div className="filter-typed">
      <Input label={label} placeholder={placeholder} {...useTyped(typed, setTyped)} spellCheck={false}
        onKeyDown={onKeys(onKey)} />
      <Button onClick={tell}>Apply</Button>
      {hint && <p className="field-hint">{hint}</p>}
    </div>
  );
}

/** The answer to a question: which, how probable, and what labels say. */
function Answer({ question, search, set }: Props & { question: Question }) {
  const { key } = question;
  const { where } = search;
  const { several, probability } = kindOf(question);
  const operator = several && valueOf(where, key, 'not') !== undefined ? 'not' : 'is';
  const { data } = useCounts(listQuery(elsewhere(search, `question ${key}`)), key);
  const state = Object.keys(labelStates).find((operator) => valueOf(where, key, operator) !== undefined) ?? '';
  const bound = (operator: 'from' | 'to') => (
    <Part label={operator === 'from' ? 'From' : 'To'} value={valueOf(where, key, operator)}
      onValue={(value) => set((now) => ({ where: put(now.where, key, operator, value) }), true)} />
  );
  return (
    <>
      <p className="filter-question">{question.text}</p>
      <Values legend="Answer" values={valuesOf(question, data)} chosen={chosenIn(where, key, operator)}
        onPress={(value, on) => set((now) => {
          const others = chosenIn(now.where, key, operator).filter((one) => one !== value);
          return { where: put(now.where, key, operator, [...others, ...(on ? [value] : [])].join(',') || undefined) };
        }, true)} />
      {several && (
        <Select label="Results that have" value={operator}
          options={[['is', 'any of the chosen options'], ['not', 'none of the chosen options']]}
          onChange={({ target }) => set((now) => ({
            where: put(now.where, key, target.value, chosenIn(now.where, key, operator).join(',') || undefined, ['is', 'not']),
          }), true)} />
      )}
      {several ? <OfOption question={question} search={search} set={set} /> : (
        <fieldset className="filter-bounds">
          <legend>{probability}</legend>
          {bound('from')}{bound('to')}
        </fieldset>
      )}
      <Select label="Label" value={state} options={[
        ['', 'With or without a label'], ['labelled', 'Has a label'], ['unlabelled', 'Has no label'],
        ['wrong', 'Differs from its label'],
      ]} onChange={({ target: { value } }) => {
        const states = Object.keys(labelStates);
        set((now) => ({ where: put(now.where, key, value || 'labelled', value ? '' : undefined, states) }), true);
      }} />
      <LabelIs {...{ question, search, set }} />
    </>
  );
}

/** What was right, with how many results have each label. A link may name several values, or those that it is not. */
function LabelIs({ question, search, set }: Omit<Props, 'close'> & { question: Question }) {
  const name = `${question.key}@label`;
  const is = valueOf(search.where, name, 'is');
  const not = valueOf(search.where, name, 'not');
  const elsewhere = { ...search, where: put(search.where, name, 'is', undefined, labelOperators) };
  const { data } = useCounts(listQuery(compact(elsewhere)), name);
  const counted = new Map(data?.by[name]?.map(({ value, count }) => [value, count]));
  const values = valuesOf(question, undefined).map(({ value, label }) =>
    [value, `${label}${data ? ` (${shown(counted.get(value) ?? 0)})` : ''}`] as const);
  const named = values.some(([value]) => value === is);
  const one = {
    label: 'What was right', value: is ?? (not === undefined ? '' : 'not'),
    options: [
      ['', 'Whatever its label is'], ...values, ...(is !== undefined && !named ? [[is, is.replaceAll(',', ', ')] as const] : []),
      ...(is === undefined && not !== undefined ? [['not', `Not ${not.replaceAll(',', ', ')}`] as const] : []),
    ] as const,
  };
  const choose = (value: string) =>
    set((now) => ({ where: put(now.where, name, 'is', value || undefined, labelOperators) }), true);
  return values.length > few ? <Picked {...one} onChange={choose} />
    : <Select {...one} onChange={({ target }) => choose(target.value)} />;
}

const labelOperators = ['is', 'not'];

/** The answers of a question that conditions name. */
const chosenIn = (where: ResultsSearch['where'], key: string, operator: 'is' | 'not') =>
  valueOf(where, key, operator)?.split(',') ?? [];

/** The values of a question in its order, with their counts: of a yes_no, those on each side of one half. */
function valuesOf(question: Question, counts: Counts | undefined): ValueProps['values'] {
  const kind = kindOf(question);
  const found = counts?.by[question.key];
  const sums = new Map<string, number>();
  for (const { value, count } of found ?? []) sums.set(kind.filterOf(value), (sums.get(kind.filterOf(value)) ?? 0) + count);
  return kind.filters(question).map(({ value, label }) => ({
    value, label, count: found && (sums.get(value) ?? 0),
    ...(hasHues(question) && { mark: <Dot question={question} option={value} /> }),
  }));
}

const countedNames = { status: '@status', version: '@version', model: '@model' } as const;

function Counted({ about, search, set }: Props & { about: keyof typeof countedNames }) {
  const { data, error } = useCounts(listQuery(elsewhere(search, about)), countedNames[about]);
  const { data: prism } = usePrism(search.prism);
  const known = useKnown(about, prism);
  const chosen = search[about] === undefined ? [] : [String(search[about])];
  const refused = error !== null || !isSearched(prism);
  const found: ValueProps['values'] = refused ? known.map((value) => ({ value, label: value }))
    : data?.by[countedNames[about]] ?? [];
  const values = [...found, ...chosen.filter((value) => !found.some((one) => one.value === value)).map((value) => (
    { value, label: value, count: refused ? undefined : 0 }))];
  return (
    <Values legend={nameOf(about)} values={values} chosen={chosen} onPress={(value, on) =>
      set({ [about]: !on ? undefined : about === 'version' ? Number(value) : value } as ResultsSearch, true)} />
  );
}

/** The values that there may be, whatever results have: for where these are not counted. */
function useKnown(about: keyof typeof countedNames, prism: Schemas['Prism'] | undefined): string[] {
  const models = useModels().data ?? [];
  switch (about) {
    case 'status': return ['ok', 'failed'];
    case 'version': return Array.from({ length: prism?.latest_version ?? 0 }, (_, i) => String(i + 1));
    case 'model': return models.map(({ name }) => name);
  }
}

function Labelled({ search, set }: Props) {
  const { data } = useCounts(listQuery(elsewhere(search, 'labelled')), '@labelled');
  const count = (value: string) => data && (data.by['@labelled']?.find((one) => one.value === value)?.count ?? 0);
  const is = valueOf(search.where, '@labelled', 'is');
  return (
    <Values legend="Label" chosen={is ? [is] : []}
      values={[{ value: 'yes', label: 'Any', count: count('yes') }, { value: 'no', label: 'None', count: count('no') }]}
      onPress={(value, on) => set((now) => ({ where: put(now.where, '@labelled', 'is', on ? value : undefined) }), true)} />
  );
}

function Prisms({ search, set, close }: Props) {
  const prisms = usePrisms().data ?? [];
  const values = prisms.map(({ slug, name, archived_at }) => (
    { value: slug, label: `${name ?? slug}${archived_at ? ' (archived)' : ''}` }));
  return (
    <Values legend="Prism" values={values} chosen={search.prism ? [search.prism] : []} onPress={(prism, on) => {
      set({ ...withoutPrism, prism: on ? prism : undefined });
      close();
    }} />
  );
}

function Keys({ search, set, close }: Props) {
  const keys = useKeyNames();
  if (keys.size === 0) {
    return <Typed label="Id of the API key" value={search.key_id} onValue={(key_id) => { set({ key_id }); close(); }} />;
  }
  return (
    <Values legend="API key" values={[...keys].map(([value, label]) => ({ value, label }))}
      chosen={search.key_id ? [search.key_id] : []} onPress={(id, on) => set({ key_id: on ? id : undefined }, true)} />
  );
}

function Assignees({ search, set }: Props) {
  const values = [...useAssigneeNames()].map(([value, name]) => ({ value, label: titleOf(name) }));
  return (
    <Values legend="Assigned to" values={values} chosen={search.assignee ? [search.assignee] : []}
      onPress={(assignee, on) => set({ assignee: on ? assignee : undefined }, true)} />
  );
}

function Runs({ search, set }: Props) {
  const runs = useRuns({ ...(search.prism && { prism: search.prism }) }).data?.pages[0]?.data ?? [];
  const values = runs.map(({ id, name, rows }) => ({ value: id, label: name ?? `${id.slice(0, 8)}…`, count: rows }));
  return (
    <Values legend="Run, and its rows" values={values} chosen={search.run ? [search.run] : []}
      onPress={(run, on) => set({ run: on ? run : undefined }, true)} />
  );
}

function Times({ search: { from, to }, set }: Props) {
  const id = useId();
  return (
    <>
      <div className="filter-spans" role="group" aria-labelledby={id}>
        <span id={id} className="unseen">Spans until now</span>
        {spans.map(([hours, label]) => (
          <Button key={hours} small onClick={() => set({ from: spanFrom(hours, Date.now()), to: undefined }, true)}>
            {label}
          </Button>
        ))}
      </div>
      <Input label="From" type="datetime-local" value={localTime(from)}
        onChange={(event) => set({ from: fromLocal(event.target.value) }, true)} />
      <Input label="To (before)" type="datetime-local" value={localTime(to)}
        onChange={(event) => set({ to: fromLocal(event.target.value) }, true)} />
    </>
  );
}
