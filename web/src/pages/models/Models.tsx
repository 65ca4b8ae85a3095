import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sources } from '@/answers/sources';
import { api, ask, type Schemas, useCan, useModels } from '@/api';
import { dayAfter, today, type Total, totals } from '@/data/usage';
import {
  Badge, type Column, count, ErrorNote, Facts, money, Note, Num, Page, Panel, percent, Skeleton, Split, Table, Time,
} from '@/design';
import { neighbours } from '../neighbours';
import { Check } from './Check';
import { Connect } from './Connect';
import { byClass, classes, states } from './words';
import './models.css';

const route = getRouteApi('/frame/models');

/** A configured model with what is known of it. */
interface Row {
  model: Schemas['Model'];
  state: Schemas['ModelState'] | undefined;
  used: Total | undefined;
}

/** What is configured, how it does, what it used, and how another model is connected. */
export function Models() {
  const { sort, open, host } = route.useSearch();
  const navigate = route.useNavigate();
  const own = useCan('own');
  const models = useModels();
  const states = useQuery({
    queryKey: ['models', 'states'], enabled: own, refetchInterval: 5000,
    queryFn: async ({ signal }) => (await ask(api.GET('/v1/models/states', { signal }))).data,
  });
  const usage = useUsage(own);
  const connect = (
    <Connect host={host} onHost={(id) => void navigate({ search: (old) => ({ ...old, host: id }), replace: true })} />
  );
  if (!own) return (
    <Page title="Models">
      <Note>Owners see and check the models here. The operator of this Prism configures them.</Note>
      {connect}
    </Page>
  );
  const rows = models.data?.map((model): Row => ({
    model, state: states.data?.find(({ name }) => name === model.name), used: usage.data?.get(model.name),
  }));
  const columns = columnsOf(usage.data);
  const current = rows?.find(({ model }) => model.name === open);
  const show = (name: string | undefined) =>
    void navigate({ search: (old) => ({ ...old, open: name }), replace: open !== undefined });
  const { previous, next } = neighbours(rows ?? [], columns, sort, ({ model }) => model.name, open);
  return (
    <Page title="Models" lead="What answers, as the operator configured it. Use is that of this account in the last 30 days.">
      <ErrorNote error={models.error ?? states.error ?? usage.error}
        onRetry={() => { void models.refetch(); void states.refetch(); void usage.refetch(); }} />
      {rows ? (
        <Split>
          <Table label="Models" columns={columns} rows={rows} rowKey={({ model }) => model.name} sort={sort} open={open}
            onOpen={({ model }) => show(model.name)}
            onSort={(to) => void navigate({ search: (old) => ({ ...old, sort: to }), replace: true })} />
          {current && (
            <ModelPanel key={current.model.name} {...current} onClose={() => show(undefined)}
              onPrevious={previous ? () => show(previous) : undefined} onNext={next ? () => show(next) : undefined} />
          )}
        </Split>
      ) : !models.error && <Skeleton shape="table" lines={4} />}
      {connect}
    </Page>
  );
}

/** What each model was used for in the last 30 days, by its name. */
function useUsage(enabled: boolean) {
  const query = { from: dayAfter(today(), -29), to: dayAfter(today(), 1), by: 'model' as const };
  return useQuery({
    queryKey: ['usage', query, 'model'], enabled,
    queryFn: ({ signal }) => ask(api.GET('/v1/usage', { params: { query }, signal })),
    select: ({ data }) => new Map(totals(data).flatMap((total) => (total.name === null ? [] : [[total.name, total]]))),
  });
}

const columnsOf = (usage: Map<string, Total> | undefined): Column<Row>[] => [
  {
    id: 'name', head: 'Name', width: '8rem', sort: ({ model }) => model.name,
    cell: ({ model }) => <>{model.name}{model.default && <span className="soft"> · default</span>}</>,
  },
  {
    id: 'model', head: 'Model', width: '10rem', show: 'wide', sort: ({ model }) => model.model, cell: ({ model }) => model.model,
  },
  { id: 'state', head: 'State', width: '7rem', sort: ({ state }) => state?.state, cell: ({ state }) => <State state={state} /> },
  {
    id: 'failures', head: 'Last failure', width: '10rem', show: 'wide', sort: ({ state }) => state?.failures[0]?.at,
    cell: ({ state }) => (state?.failures[0]
      ? <>{state.failures[0].reason} <span className="soft"><Time at={state.failures[0].at} /></span></>
      : <span className="soft">–</span>),
  },
  {
    id: 'results', head: 'Results', align: 'end', cell: ({ used }) => <Num value={used?.results ?? (usage && 0)} />,
    sort: ({ used }) => used?.results ?? 0,
  },
  {
    id: 'failed', head: 'Failed', align: 'end', show: 'wide', sort: ({ used }) => used?.failed ?? 0,
    cell: ({ used }) => <Num value={used?.failed ?? (usage && 0)} />,
  },
  {
    id: 'cost', head: 'Cost', align: 'end', sort: ({ used }) => costs(used)[0]?.[1] ?? null,
    cell: ({ used }) => <Cost used={used} />,
  },
];

const costs = (used: Total | undefined) => Object.entries(used?.costs ?? {});

function Cost({ used }: { used: Total | undefined }) {
  const all = costs(used);
  if (!all.length) return <span className="soft">–</span>;
  return all.map(([currency, cost], index) => (
    <span key={currency}>{index > 0 && ' + '}<Num value={cost} currency={currency} /></span>
  ));
}

function State({ state }: { state: Row['state'] }) {
  if (!state) return <span className="soft">–</span>;
  const [tone, word] = states[state.state];
  return <Badge tone={tone}>{word}</Badge>;
}

interface PanelProps extends Row {
  onClose: () => void;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
}

function ModelPanel({ model, state, used, ...around }: PanelProps) {
  const most = state?.max_in_flight == null ? '' : `, at most ${state.max_in_flight}`;
  return (
    <Panel title={model.name} {...around}>
      <Check name={model.name} />
      <Facts items={[
        ['State', state ? <><State state={state} /> <span className="soft">{states[state.state][2]}</span></> : '–'],
        ['Places', state ? `${count(state.running, 'call')} under way${most}` : '–'],
        ['Provider', model.provider],
        ['Model', <code>{model.model}</code>],
        ['Probabilities', sources[model.probabilities]],
        ...(model.samples === null ? [] : [['Samples', model.samples] as [string, number]]),
        ...(model.order === null ? [] : [['Order', model.order] as [string, string]]),
        ['Price', priceOf(model)],
        ['Fallback', model.fallback.join(', ') || 'none'],
        ['Results', <Link to="/results" search={{ model: model.name }}>{count(used?.results ?? 0, 'result')} in 30 days</Link>],
        ['Failed', used && used.results > 0
          ? <><Num value={used.failed} /> <span className="soft">{percent(used.failed / used.results)}</span></> : '–'],
        ['Tokens', used ? <><Num value={used.inputTokens} /> in, <Num value={used.outputTokens} /> out</> : '–'],
        ['Cost', <Cost used={used} />],
      ]} />
      <section aria-label="Last failures">
        <h3>Last failures</h3>
        {state?.failures.length ? (
          <ul className="models-failures">
            {byClass(state.failures).map((failure) => (
              <li key={failure.reason}>
                <code>{failure.reason}</code> {classes[failure.reason]} <span className="soft">
                  {failure.count > 1 && `${failure.count} times, last `}<Time at={failure.at} /></span>
              </li>
            ))}
          </ul>
        ) : <p className="soft">None of the process that answers since it started.</p>}
      </section>
    </Panel>
  );
}

/** What a model's calls cost, in words. */
export function priceOf({ price, price_reported: reported }: Schemas['Model']): string {
  if (reported) return 'as its host reports';
  if (!price) return 'not configured';
  const each = [
    `${money(price.input, price.currency)} in`, `${money(price.output, price.currency)} out`,
    ...(price.cached_input === null ? [] : [`${money(price.cached_input, price.currency)} from a cache`]),
  ].join(', ');
  const call = price.per_call === null ? '' : `, and ${money(price.per_call, price.currency)} a call`;
  return `${each} for a million tokens${call}`;
}
