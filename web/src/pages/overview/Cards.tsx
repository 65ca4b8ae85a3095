import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { firstDay, layersOf, mainQuestion, total, unsure } from '@/answers/distribution';
import { usePrisms } from '@/api';
import { SmallStacked } from '@/charts';
import { dailyQuery, span } from '@/data/distribution';
import { type Prism, weekQuery } from '@/data/prisms';
import { driftQuery } from '@/data/quality';
import { dayAfter, today } from '@/data/usage';
import { count, percent, Section, Skeleton, wholePercent } from '@/design';
import { thresholds } from '@/questions';
import { useAccuracy } from './calls';
import './overview.css';

const most = 6; // cards

/** The prisms that answered most in the last week, each with what it answered lately. */
export function Cards() {
  const { data } = usePrisms('false');
  const { data: week, isPending } = useQuery(weekQuery());
  const answers = ({ slug }: Prism) => week?.get(slug)?.results ?? 0;
  return (
    <Section title="Prisms" actions={<Link to="/prisms">All prisms</Link>}>
      {data && !isPending ? (
        <ul className="overview-cards">
          {[...data].sort((a, b) => answers(b) - answers(a)).slice(0, most).map((prism) => <Card key={prism.id} prism={prism} />)}
        </ul>
      ) : <Skeleton lines={4} />}
    </Section>
  );
}

function Card({ prism }: { prism: Prism }) {
  const question = mainQuestion(prism.version.questions)!;
  const { data, error } = useQuery(dailyQuery(prism.slug, question.key));
  const to = dayAfter(today(), 1);
  const from = data ? firstDay(data, dayAfter(to, -span), to) : to;
  const { days, layers, answers } = layersOf(data ?? { data: [] }, question, thresholds(question, prism.lens.columns), from, to);
  const n = total({ values: answers });
  const { accuracy } = useAccuracy(prism, question.key, data?.data.some((row) => row.labelled > 0) ?? false);
  return (
    <li>
      <Link to="/prisms/$prism" params={{ prism: prism.slug }} className="clip"><strong>{prism.name ?? prism.slug}</strong></Link>
      {data && n > 0 && (
        <SmallStacked label={`${question.text} Answers by day, ${count(n, 'answer')} in ${span} days`} layers={layers}
          days={days.length} />
      )}
      <p className="soft num">
        {error ? 'Its answers could not be counted.' : data && (n === 0 ? `No answer in ${span} days` : (
          <>{count(n, 'answer')}<Part part={unsure(layers)} words="unsure" />
            <Part part={accuracy?.value} words="right" /><Drifting prism={prism} /></>
        ))}
      </p>
    </li>
  );
}

const Part = ({ part, words }: { part: number | undefined; words: string }) =>
  (part === undefined ? null : <> · {words === 'right' ? wholePercent(part) : percent(part)} {words}</>);

function Drifting({ prism }: { prism: Prism }) {
  const { data } = useQuery(driftQuery(prism.slug, prism.latest_version));
  const alarm = data?.questions.some(({ hour, day }) => hour.alarm || day.alarm);
  if (!alarm) return null;
  return <> · <Link to="/prisms/$prism/quality" params={{ prism: prism.slug }} search={{ tab: 'drift' }}>drifts</Link></>;
}
