import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Chip } from '@/answers/Chip';
import { mainQuestion, sharesOf, whereOf } from '@/answers/distribution';
import { type Question, sentText } from '@/answers/words';
import { api, ask, type Schemas } from '@/api';
import { AreaChart, ShareBar, Swatch } from '@/charts';
import { moving, over } from '@/data/events';
import type { Listed } from '@/data/results';
import type { Run } from '@/data/runs';
import { Button, count, exactly, percent, Section, shown, wholePercent } from '@/design';
import { thresholds } from '@/questions';
import { Text } from '../results/columns';
import { useRunCounts } from './answers';

type Prism = Schemas['Prism'];

const mostAnswers = 8; // to one question

/** What a run has answered so far, question by question. Each answer leads to its results. */
export function RunAnswers({ run, prism, questions }: { run: Run; prism: Prism; questions: Question[] }) {
  const counts = useRunCounts(run, questions);
  if (!counts) return null;
  return (
    <Section title="Answers">
      <div className="runs-answers">
        {questions.filter(({ key }) => counts.by[key]).map((question) => (
          <OfQuestion key={question.key} run={run} prism={prism} question={question} counts={counts.by[question.key]!}
            results={counts.total} />
        ))}
      </div>
    </Section>
  );
}

interface OfQuestionProps {
  run: Run;
  prism: Prism;
  question: Question;
  counts: Schemas['ValueCount'][];
  results: number;
}

/** The answers to one question, of many the most frequent ones at first, in the order of the question. */
function OfQuestion({ run, prism, question, counts, results }: OfQuestionProps) {
  const [every, setEvery] = useState(false);
  const bounds = thresholds(question, prism.lens.columns);
  const all = sharesOf(question, counts, bounds, results).filter(({ share }) => share > 0);
  const most = new Set([...all].sort((a, b) => b.share - a.share).slice(0, mostAnswers));
  const folded = all.length - most.size;
  return (
    <div>
      <h3>{question.text}</h3>
      <ul className="answers-lately">
        {all.filter((one) => every || most.has(one)).map((one) => (
          <li key={one.key}>
            <Swatch layer={one} />
            <Link to="/results"
              search={{ prism: prism.slug, run: run.id, where: whereOf(question, one.key, bounds), view: 'all' }}>
              {one.label}
            </Link>
            <ShareBar label={percent(one.share)} parts={[one]} />
            <strong className="num" title={exactly(one.share)}>{wholePercent(one.share)}</strong>
          </li>
        ))}
      </ul>
      {folded > 0 && (
        <Button small variant="quiet" className="answers-fold" aria-expanded={every} onClick={() => setEvery(!every)}>
          {every ? `Only the ${mostAnswers} most frequent` : count(folded, 'more answer')}
        </Button>
      )}
    </div>
  );
}

const mostMoments = 300;

/** How fast a run is, since the page was opened. */
export function Pace({ run }: { run: Run }) {
  const [moments, setMoments] = useState<{ at: string; rate: number }[]>([]);
  useEffect(() => {
    const at = new Date().toISOString().slice(0, 19).replace('T', ' ');
    setMoments((old) => [...old, { at, rate: run.rows_per_second_now }].slice(-mostMoments));
  }, [run]);
  return (
    <AreaChart title="Rows a second" label="Rows a second since this page was opened" times={moments.map(({ at }) => at)}
      series={[{ label: 'Rows a second', values: moments.map(({ rate }) => rate), bare: true }]} />
  );
}

/** The texts that were answered last. */
export function NewestRows({ run, prism }: { run: Run; prism: Prism }) {
  const { data } = useQuery({
    queryKey: ['results', 'of run', run.id],
    queryFn: async ({ signal }) => (await ask(api.GET('/v1/results', {
      // Without an order, the rows of a run come in that of its file.
      params: { query: { run: run.id, status: 'ok', sort: '-@created', limit: 4, format: 'raw', fields: 'true' } }, signal,
    }))).data as Listed[],
    refetchInterval: 2000,
  });
  const question = mainQuestion(prism.version.questions);
  return (
    <Section title="Newest rows">
      <ul className="runs-newest">
        {(data ?? []).map(({ id, fields, answers }) => {
          const answer = question && (answers?.[question.key] as Schemas['Answer'] | undefined);
          return (
            <li key={id}>
              <Text text={sentText(fields)} />
              {answer && <Chip answer={answer} question={question} bounds={thresholds(question, prism.lens.columns)} />}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

/** How a run ended, as a notice says it. */
const endOf = ({ ok, failed, invalid }: Run) => [
  `${count(ok, 'row')} answered`, ...(failed ? [`${shown(failed)} failed`] : []),
  ...(invalid ? [`${shown(invalid)} invalid`] : []),
].join(', ');

/** Has the browser say that the run is over, for those who allow it. */
export function Notice({ run }: { run: Run }) {
  const there = typeof Notification !== 'undefined';
  const [allowed, setAllowed] = useState(there ? Notification.permission : 'denied');
  const seen = useRef(run);
  useEffect(() => {
    const ended = moving(seen.current) && over(run);
    seen.current = run;
    if (ended && there && Notification.permission === 'granted') {
      new Notification(`${run.name ?? 'The run'} is ${run.status}`, { body: endOf(run), tag: run.id });
    }
  }, [run, there]);
  if (!moving(run) || allowed === 'denied') return null;
  return allowed === 'granted' ? <span className="soft">The browser says when it is over.</span> : (
    <Button small onClick={() => void Notification.requestPermission().then(setAllowed)}>Tell me when it is over</Button>
  );
}
