import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Answers, LensRow } from '@/answers/Answers';
import { Escalated } from '@/answers/Escalated';
import { type Shaped, titleOf } from '@/answers/words';
import { api, ask, type Schemas } from '@/api';
import { type Record_, useKeyNames, usePrism, useResult, useVersion } from '@/data/results';
import { Copy, ErrorNote, Facts, Note, Num, percent, Skeleton, Status, Time } from '@/design';
import { Discussion } from './Discussion';
import { LongText } from './LongText';
import './results.css';

/** A result in full: what was sent, its answers, the columns of downloads, the record of the call, its retries. */
export function ResultView({ id, wide, actions }: { id: string; wide?: boolean; actions?: ReactNode }) {
  const { data, error, refetch, isPlaceholderData } = useResult(id);
  const loaded = data && !isPlaceholderData ? data : undefined;
  const prism = usePrism(loaded?.shaped.prism).data;
  const version = useVersion(loaded?.shaped.prism, loaded?.shaped.version).data;
  if (error && !loaded) return <ErrorNote error={error} title="The result could not be read." onRetry={() => void refetch()} />;
  if (!loaded) return <><Skeleton lines={3} /><Skeleton shape="bars" lines={8} /></>;
  const { shaped, raw, record } = loaded;
  const answers = (
    <>
      <Sent record={record} version={version} />
      {actions}
      {shaped.status === 'failed' && <Note tone="bad"><strong>No answer.</strong> {shaped.error}</Note>}
      {raw.answers && (
        <Part title="Answers">
          <Answers answers={raw.answers as Record<string, Schemas['Answer']>} questions={version?.questions}
            columns={prism?.lens.columns} labels={record.labels} />
        </Part>
      )}
    </>
  );
  const rest = (
    <>
      <Discussion id={id} />
      {shaped.answers && (
        <Part title="As calls return it (Lens)">
          <LensRow answers={shaped.answers as Record<string, Shaped>} columns={prism?.lens.columns}
            questions={prism?.version.questions} />
        </Part>
      )}
      <Part title="Record"><RecordFacts record={record} version={version} /></Part>
      <Chain record={record} />
    </>
  );
  return wide
    ? <div className="results-wide"><div>{answers}</div><div>{rest}</div></div> : <div className="stack">{answers}{rest}</div>;
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return <section className="results-part"><h2>{title}</h2>{children}</section>;
}

/** What was sent, as quotes: the text alone where it is one. */
function Sent({ record, version }: { record: Record_; version: Schemas['Version'] | undefined }) {
  const labels = version?.fields ?? [];
  const fields = Object.entries(record.fields).map(([key, value]) => (
    { name: labels.find((field) => field.key === key)?.label ?? titleOf(key), value }
  ));
  const all = record.context === null ? fields : [...fields, { name: 'Context, for all questions', value: record.context }];
  return (
    <section aria-label="What was sent">
      {all.map(({ name, value }) => (
        <blockquote key={name} className={all.length === 1 ? 'results-quote alone' : 'results-quote'}>
          <h3 className="results-field">
            <span className={all.length === 1 ? 'unseen' : undefined}>{name}</span><Copy text={value} label={`Copy ${name}`} />
          </h3>
          <div className="grow"><LongText text={value} /></div>
        </blockquote>
      ))}
    </section>
  );
}

const most = 8; // keys that are named

/** Keys with commas between them; of many the first ones, and how many more there are. */
const listOf = (keys: string[]): ReactNode => (keys.length <= most ? keys.join(', ')
  : <span title={keys.join(', ')}>{keys.slice(0, most - 1).join(', ')} and {keys.length - most + 1} more</span>);

function RecordFacts({ record, version }: { record: Record_; version: Schemas['Version'] | undefined }) {
  const keys = useKeyNames();
  const { model, usage } = record;
  const items: [ReactNode, ReactNode][] = [
    ['Created', <Time at={record.created_at} />],
    ['Prism', <><Link to="/prisms/$prism" params={{ prism: record.prism }}>{record.prism}</Link> version {record.version}</>],
    ['Reference (ref)', record.ref === null ? none : <Copied text={record.ref} label="Copy ref" />],
    ['Model', model ? (
      <>
        {model.name ?? none}{' '}
        <span className="soft">{[model.provider, model.model, model.probabilities].filter(Boolean).join(', ')}</span>
      </>
    ) : none],
    ['Tries', model ? <>{model.tries}{model.fell_back && <span className="soft"> with a fallback</span>}</> : none],
    ...(record.escalation ? [['Second model', <Escalated escalation={record.escalation} />] as [ReactNode, ReactNode]] : []),
    ['Took', <Num value={record.took_ms} unit="ms" />],
    ['Tokens', usage && usage.input_tokens !== null
      ? <><Num value={usage.input_tokens} /> in, <Num value={usage.output_tokens} /> out{usage.cached_input_tokens !== null && (
        <>, <Num value={usage.cached_input_tokens} /> cached</>
      )}</>
      : none],
    ['Cost', usage ? <Num value={usage.cost} currency={usage.currency} /> : none],
    ['Key', record.key_id === null ? none : <Copied text={record.key_id} label="Copy key id">{keys.get(record.key_id)}</Copied>],
    ['Idempotency key', record.idempotency_key === null
      ? none : <Copied text={record.idempotency_key} label="Copy idempotency key" />],
    ...(record.run_id === null ? [] : [[
      'Run', <><Link to="/runs/$run" params={{ run: record.run_id }}>Run</Link> row {record.run_row}</>,
    ] as [ReactNode, ReactNode]]),
    ...Object.entries(record.label_mass ?? {}).map(([question, mass]): [ReactNode, ReactNode] => [
      'Label mass',
      <span title={String(mass)}>
        {percent(mass)}{' '}
        <span className="soft">{version?.questions.find(({ key }) => key === question)?.text ?? question}</span>
      </span>,
    ]),
    ...Object.entries(record.absent ?? {}).map(([question, keys]): [ReactNode, ReactNode] => [
      'Not among the tokens',
      <>
        {listOf(keys)}{' '}
        <span className="soft">{version?.questions.find(({ key }) => key === question)?.text ?? question}</span>
      </>,
    ]),
    ...Object.entries(record.order_disagreement ?? {}).map(([question, distance]): [ReactNode, ReactNode] => [
      'Orders apart',
      <span title={String(distance)}>
        {percent(distance)}{' '}
        <span className="soft">{version?.questions.find(({ key }) => key === question)?.text ?? question}</span>
      </span>,
    ]),
    ...(record.error_code === null ? [] : [['Error code', <code>{record.error_code}</code>] as [ReactNode, ReactNode]]),
    ['Result id', <Copied text={record.id} label="Copy id" />],
  ];
  return <Facts items={items} />;
}

const none = <span className="soft">–</span>;

/** A value with a button that copies it; `children` stand for a value that says nothing to people. */
function Copied({ text, label, children }: { text: string; label: string; children?: ReactNode }) {
  return (
    <span className="row">
      <span className={children ? undefined : 'mono'}>{children ?? text}</span>
      <Copy text={text} label={label} />
    </span>
  );
}

interface Link_ {
  id: string;
  status: string;
  created_at: string;
}

/** Every result of a chain of retries, the first call first. */
function Chain({ record }: { record: Record_ }) {
  const alone = record.retry_of === null && record.retried_by === null;
  const { data } = useQuery({
    queryKey: ['results', 'chain', record.id, record.retried_by], queryFn: ({ signal }) => chain(record, signal), enabled: !alone,
    placeholderData: undefined,
  });
  if (alone) return null;
  return (
    <Part title="Retries">
      {data ? (
        <ol className="results-chain">
          {data.map((one) => (
            <li key={one.id} aria-current={one.id === record.id || undefined}>
              <Status status={one.status} /> <Time at={one.created_at} />
              {one.id === record.id ? <span>this result</span>
                : <Link to="/results/$result" params={{ result: one.id }} className="mono">{one.id}</Link>}
            </li>
          ))}
        </ol>
      ) : <Skeleton lines={2} />}
    </Part>
  );
}

const longest = 20; // results of a chain that are read in each direction

async function chain(record: Record_, signal: AbortSignal): Promise<Link_[]> {
  const read = async (id: string) =>
    ask(api.GET('/v1/results/{result_id}/record', { params: { path: { result_id: id } }, signal })).catch(() => undefined);
  const found: Record_[] = [record];
  for (let n = 0, id = record.retry_of; id !== null && n < longest; n++) {
    const one = await read(id); // a deleted one ends the chain
    if (!one) break;
    found.unshift(one);
    id = one.retry_of;
  }
  for (let n = 0, id = record.retried_by; id !== null && n < longest; n++) {
    const one = await read(id);
    if (!one) break;
    found.push(one);
    id = one.retried_by;
  }
  return found;
}
