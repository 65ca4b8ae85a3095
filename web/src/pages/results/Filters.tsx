import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useModels, usePrisms } from '@/api';
import { Button, Input, onKeys, Select, Toolbar, useTyped } from '@/design';
import { useActions } from '@/shell/actions';
import { useKeyNames, usePrism } from './data';
import { fromLocal, localTime, type ResultsSearch, spanFrom, spans } from './search';

interface Props {
  search: ResultsSearch;
  set: (change: ResultsSearch, replace?: boolean) => void;
  /** The page is of one prism, which is no filter then. */
  fixed?: boolean;
}

/** The filters of results. Each is in the URL. */
export function Filters({ search, set, fixed }: Props) {
  const { status, ref, words, from, to } = search;
  const others = [search.version, search.model, search.key_id, search.run].filter((value) => value !== undefined).length;
  const [more, setMore] = useState(others > 0);
  const [own, setOwn] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  const prisms = usePrisms().data ?? [];
  useActions([
    { id: 'filter', group: 'Results', label: 'Filter results', keys: '/', run: () => first.current?.focus() },
    {
      id: 'failed', group: 'Results', label: 'Show failed results', words: 'filter status', run: () => set({ status: 'failed' }),
    },
    { id: 'unfilter', group: 'Results', label: 'Clear the filters', run: () => set(clear) },
  ]);
  const custom = own || from !== undefined || to !== undefined;
  return (
    <>
      <Toolbar label="Filters">
        {!fixed && (
          <Select label="Prism" value={search.prism ?? ''}
            onChange={(event) => set({ prism: event.target.value || undefined, version: undefined })}>
            <option value="">All prisms</option>
            {search.prism !== undefined && !prisms.some(({ slug }) => slug === search.prism) && (
              <option value={search.prism}>{search.prism}</option>
            )}
            {prisms.map(({ slug, archived_at }) => <option key={slug} value={slug}>{slug}{archived_at && ' (archived)'}</option>)}
          </Select>
        )}
        <Select label="Status" value={status ?? ''} options={[['', 'Every status'], ['ok', 'ok'], ['failed', 'failed']]}
          onChange={(event) => set({ status: (event.target.value || undefined) as ResultsSearch['status'] })} />
        <Select label="Time" value={custom ? 'custom' : ''} onChange={(event) => {
          const { value } = event.target;
          setOwn(value === 'custom');
          if (value !== 'custom') set({ from: value ? spanFrom(Number(value), Date.now()) : undefined, to: undefined });
        }}>
          <option value="">Any time</option>
          {spans.map(([hours, label]) => <option key={hours} value={hours}>{label}</option>)}
          <option value="custom">From … to</option>
        </Select>
        <Text label="Ref" value={ref} onValue={(value) => set({ ref: value }, true)} placeholder="exact" input={first} />
        <Text label="Words in loaded rows" value={words} onValue={(value) => set({ words: value }, true)}
          placeholder="such as a label" />
        <Button icon="filter" aria-expanded={more} onClick={() => setMore(!more)}>
          {others ? `More filters (${others})` : 'More filters'}
        </Button>
      </Toolbar>
      {(more || custom) && (
        <Toolbar label="More filters">
          {custom && (
            <>
              <Input label="From" type="datetime-local" value={localTime(from)}
                onChange={(event) => set({ from: fromLocal(event.target.value) }, true)} />
              <Input label="To (before)" type="datetime-local" value={localTime(to)}
                onChange={(event) => set({ to: fromLocal(event.target.value) }, true)} />
            </>
          )}
          {more && <More {...{ search, set }} />}
        </Toolbar>
      )}
    </>
  );
}

/** No filter at all. */
export const clear: ResultsSearch = {
  prism: undefined, status: undefined, ref: undefined, version: undefined, model: undefined, key_id: undefined, run: undefined,
  from: undefined, to: undefined, words: undefined,
};

function More({ search, set }: Props) {
  const { data: prism } = usePrism(search.prism);
  const models = useModels().data ?? [];
  const keys = useKeyNames();
  return (
    <>
      {prism ? (
        <Select label="Version" value={String(search.version ?? '')}
          onChange={(event) => set({ version: Number(event.target.value) || undefined })}>
          <option value="">Every version</option>
          {search.version !== undefined && search.version > prism.latest_version && (
            <option value={search.version}>{search.version}</option>
          )}
          {Array.from({ length: prism.latest_version }, (_, i) => prism.latest_version - i).map((n) => (
            <option key={n} value={n}>{n}</option>
          ))}
        </Select>
      ) : <Text label="Version" value={search.version === undefined ? undefined : String(search.version)}
        onValue={(value) => set({ version: Number(value) || undefined }, true)} placeholder="a number" />}
      <Select label="Model" value={search.model ?? ''} onChange={(event) => set({ model: event.target.value || undefined })}>
        <option value="">Every model</option>
        {search.model !== undefined && !models.some(({ name }) => name === search.model) && (
          <option value={search.model}>{search.model}</option>
        )}
        {models.map(({ name }) => <option key={name} value={name}>{name}</option>)}
      </Select>
      {keys.size > 0 ? (
        <Select label="Key" value={search.key_id ?? ''} onChange={(event) => set({ key_id: event.target.value || undefined })}>
          <option value="">Every key</option>
          {search.key_id !== undefined && !keys.has(search.key_id) && <option value={search.key_id}>{search.key_id}</option>}
          {[...keys].map(([id, name]) => <option key={id} value={id}>{name}</option>)}
        </Select>
      )
      : <Text label="Key" value={search.key_id} onValue={(value) => set({ key_id: value }, true)} placeholder="id of the key" />}
      <Text label="Run" value={search.run} onValue={(value) => set({ run: value }, true)} placeholder="id of the run" />
    </>
  );
}

const pause = 300; // milliseconds without a letter after which a filter is applied

interface TextProps {
  label: string;
  value: string | undefined;
  onValue: (value: string | undefined) => void;
  placeholder: string;
  input?: React.Ref<HTMLInputElement>;
}

/** A filter that is typed: applied after a pause, or at once by Enter. */
function Text({ label, value, onValue, placeholder, input }: TextProps) {
  const [typed, setTyped] = useState(value ?? '');
  const latest = useRef(onValue);
  useEffect(() => {
    latest.current = onValue;
  });
  useEffect(() => setTyped(value ?? ''), [value]);
  useEffect(() => {
    if (typed.trim() === (value ?? '')) return;
    const timer = setTimeout(() => latest.current(typed.trim() || undefined), pause);
    return () => clearTimeout(timer);
  }, [typed, value]);
  const onKey = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') onValue(typed.trim() || undefined);
    else if (event.key === 'Escape') event.currentTarget.blur();
  };
  return (
    <Input ref={input} type="search" label={label} {...useTyped(typed, setTyped)} placeholder={placeholder} spellCheck={false}
      onKeyDown={onKeys(onKey)} />
  );
}
