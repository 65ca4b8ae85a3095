import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  allLayersOf, type Distribution, firstDay, late, latelyOf, layersOf, mainQuestion, total, unsure,
} from '@/answers/distribution';
import { Lately } from '@/answers/Lately';
import type { Question } from '@/answers/words';
import { useCan } from '@/api';
import { type Layer, Stacked } from '@/charts';
import { dailyQuery, span } from '@/data/distribution';
import { type Prism, usePrismOfPage, versionsQuery } from '@/data/prisms';
import { driftQuery } from '@/data/quality';
import { useRuns } from '@/data/runs';
import { dayAfter, today, whole } from '@/data/usage';
import { changes } from '@/definitions/diff';
import {
  ButtonLink, count, Empty, ErrorNote, exactly, money, percent, Section, Select, shown, Skeleton, Time, wholePercent,
} from '@/design';
import { thresholds } from '@/questions';
import { around } from '../quality/figures';
import { windowWords } from '../quality/windows';
import { RunLine } from '../runs/RunLine';
import { spentQuery, useAccuracy } from './calls';
import { Stat, Stats } from './Stats';
import './overview.css';

const route = getRouteApi('/frame/prisms/$prism/');

/** What a prism has answered lately, how sure and how right it was, and what changed. */
export function Overview(): ReactNode {
  const { prism } = usePrismOfPage();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { questions } = prism.version;
  const question = questions.find(({ key }) => key === search.question) ?? mainQuestion(questions)!;
  const { data, error, refetch } = useQuery(dailyQuery(prism.slug, question.key));
  const choice = questions.length > 1 && (
    <Select className="version-select" label="Question" value={question.key}
      options={questions.map(({ key, text }) => [key, text] as const)}
      onChange={({ target: { value } }) => void navigate({
        search: { question: value === mainQuestion(questions)!.key ? undefined : value }, replace: true, resetScroll: false,
      })} />
  );
  if (data?.data.length === 0 && !search.question) return <Nothing prism={prism} />;
  return (
    <>
      {choice}
      <ErrorNote error={error} title="The answers could not be counted." onRetry={() => void refetch()} />
      {data ? <Answered prism={prism} question={question} data={data} /> : !error && (
        <>
          <Skeleton shape="stats" lines={5} />
          <div className="chart-sides"><Skeleton shape="chart" /><Skeleton shape="bars" lines={5} /></div>
        </>
      )}
      <div className="chart-sides">
        <Changed prism={prism} />
        <LastRuns prism={prism} question={question} />
      </div>
    </>
  );
}

function Nothing({ prism }: { prism: Prism }) {
  const may = useCan('call') && !prism.archived_at;
  const params = { prism: prism.slug };
  return (
    <Empty title="What texts are about will be here" drawing="stacked" action={may && (
      <>
        <ButtonLink variant="primary" icon="play" to="/prisms/$prism/try" params={params}>Try a text</ButtonLink>
        <ButtonLink icon="upload" to="/runs/new" search={params}>Upload a file</ButtonLink>
      </>
    )}>
      No text was answered in the last {2 * span} days. Then there are the answers by day, how many are unsure, and how many are
      right.
    </Empty>
  );
}

function Answered({ prism, question, data }: { prism: Prism; question: Question; data: Distribution }) {
  const bounds = thresholds(question, prism.lens.columns);
  const to = dayAfter(today(), 1);
  const from = dayAfter(to, -span);
  const { layers, answers } = allLayersOf(data, question, bounds, from, to);
  const before = allLayersOf(data, question, bounds, dayAfter(from, -span), from).answers;
  const versions = useQuery(versionsQuery(prism.slug)).data ?? [];
  const drawn = layersOf(data, question, bounds, firstDay(data, from, to), to);
  const sum = total({ values: answers });
  return (
    <>
      <Stats>
        <Stat name={`Answered, ${span} days`} title={exactly(sum)} more={moreWords(sum, total({ values: before }))}>
          {shown(sum)}
        </Stat>
        <Right prism={prism} question={question} />
        <Unsure layers={layers} data={data} />
        <Spent prism={prism.slug} />
        <Drifting prism={prism} question={question} />
      </Stats>
      <div className="chart-sides">
        <Stacked title={question.text} label={`${question.text} Answers by day, ${count(sum, 'answer')} in ${span} days`}
          days={drawn.days} layers={drawn.layers}
          marks={versions.filter(({ version }) => version > 1)
            .map(({ version, created_at }) => ({ day: created_at.slice(0, 10), label: `version ${version}` }))} />
        <Lately prism={prism.slug} question={question} layers={layers} answers={answers} drawn={drawn.layers} bounds={bounds} />
      </div>
    </>
  );
}

/** How many more there are than before. */
function moreWords(now: number, before: number): string {
  if (before === 0) return `none in the ${span} days before`;
  if (now >= 10 * before) return `${shown(before)} in the ${span} days before`;
  if (now >= 2 * before) return `${shown(Math.round(now / before))} times the ${span} days before`;
  const more = Math.round((now / before - 1) * 100);
  return `${more < 0 ? '−' : '+'}${Math.abs(more)}% on the ${span} days before`;
}

function Right({ prism, question }: { prism: Prism; question: Question }) {
  const { accuracy, counted = 0, missing = 0 } = useAccuracy(prism, question.key);
  const of = { params: { prism: prism.slug }, search: { question: question.key } };
  if (accuracy) {
    return (
      <Stat name="Right" title={exactly(accuracy.value)} more={`${around(accuracy)}, of ${count(counted, 'label')}`}>
        <Link to="/prisms/$prism/quality" {...of}>{wholePercent(accuracy.value)}</Link>
      </Stat>
    );
  }
  return (
    <Stat name="Right" more={missing > 0 && (
      <><Link to="/prisms/$prism/label" {...of}>{count(missing, 'more label')}</Link> to know it</>
    )}>–</Stat>
  );
}

/** The share of unsure answers, or for a question that is never so how probable its answers are on average. */
function Unsure({ layers, data }: { layers: Layer[]; data: Distribution }) {
  const now = unsure(layers);
  if (now === undefined) {
    const n = data.data.reduce((sum, { answers }) => sum + answers, 0);
    const p = n ? data.data.reduce((sum, { answers, probability }) => sum + answers * probability, 0) / n : undefined;
    return <Stat name="Sure" more="of the answer, on average">{p === undefined ? '–' : wholePercent(p)}</Stat>;
  }
  const points = Math.round((latelyOf(layers).find(({ lacking }) => lacking)?.more ?? NaN) * 100);
  return (
    <Stat name="Unsure" title={exactly(now)} more={Number.isNaN(points) ? undefined : points === 0
      ? `as many in the last ${late} days`
      : `${count(Math.abs(points), 'point')} ${points > 0 ? 'more' : 'less'} in the last ${late} days`}>
      {percent(now)}
    </Stat>
  );
}

function Spent({ prism }: { prism: string }) {
  const { data } = useQuery(spentQuery(prism));
  const sum = data && whole(data.data);
  const costs = Object.entries(sum?.costs ?? {});
  if (sum && costs.length === 0) return null;
  return (
    <Stat name="Spent" title={costs.map(([currency, cost]) => `${exactly(cost)} ${currency}`).join(', ')}
      more={sum && costs.length === 1 && sum.results > 0 && `${money(costs[0]![1] / sum.results, costs[0]![0])} an answer`}>
      {costs.map(([currency, cost]) => money(cost, currency)).join(' + ') || '–'}
    </Stat>
  );
}

function Drifting({ prism, question }: { prism: Prism; question: Question }) {
  const { data } = useQuery(driftQuery(prism.slug, prism.latest_version));
  const day = data?.questions.find((one) => one.question === question.key)?.day;
  return (
    <Stat name="Drift" more={day && windowWords(day)}>
      <Link to="/prisms/$prism/quality" params={{ prism: prism.slug }} search={{ question: question.key, tab: 'drift' }}>
        {!data ? '–' : !day ? 'Not watched' : day.alarm ? 'Yes' : day.classes ? 'No' : 'Not known'}
      </Link>
    </Stat>
  );
}

function Changed({ prism }: { prism: Prism }) {
  const { data, error, refetch } = useQuery(versionsQuery(prism.slug));
  return (
    <Section title="What changed">
      <ErrorNote error={error} title="The versions could not be loaded." onRetry={() => void refetch()} />
      {data ? (
        <ul className="overview-versions">
          {data.slice(0, 3).map((version, i) => {
            const before = data[i + 1];
            const changed = before ? changes(before, version) : [];
            return (
              <li key={version.version}>
                <Link to="/prisms/$prism/settings" params={{ prism: prism.slug }} search={{ version: version.version }}>
                  Version {version.version}
                </Link>, <Time at={version.created_at} />
                {before && <p className="soft">{changed.slice(0, 2).map(({ kind, what }) => `${what} ${kind}`).join(', ')}
                  {changed.length > 2 && `, and ${shown(changed.length - 2)} more`}</p>}
              </li>
            );
          })}
        </ul>
      ) : !error && <Skeleton lines={3} />}
    </Section>
  );
}

function LastRuns({ prism, question }: { prism: Prism; question: Question }) {
  const { data, error, refetch } = useRuns({ prism: prism.slug });
  const runs = data?.pages[0]?.data.slice(0, 3);
  const params = { prism: prism.slug };
  return (
    <Section title="Runs" actions={<Link to="/prisms/$prism/runs" params={params}>All runs</Link>}>
      <ErrorNote error={error} title="The runs could not be read." onRetry={() => void refetch()} />
      {runs?.length === 0 && <p className="soft">A run answers each row of a file.</p>}
      {runs ? (
        <ul className="overview-runs">
          {runs.map((run) => (
            <RunLine key={run.id} run={run} question={question} bounds={thresholds(question, prism.lens.columns)} />
          ))}
        </ul>
      ) : !error && <Skeleton lines={3} />}
    </Section>
  );
}
