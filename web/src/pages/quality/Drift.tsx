import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { allLayersOf, answered } from '@/answers/distribution';
import { Lately } from '@/answers/Lately';
import type { Question } from '@/answers/words';
import { useCan } from '@/api';
import { AreaChart } from '@/charts';
import { dailyQuery, span } from '@/data/distribution';
import type { Prism } from '@/data/prisms';
import { type Drift, driftQuery, setDrift } from '@/data/quality';
import { dayAfter, today } from '@/data/usage';
import { Badge, Button, Confirm, count, Empty, ErrorNote, Note, Section, Skeleton, Time, toast } from '@/design';
import { kindOf, thresholds } from '@/questions';
import { useActions } from '@/shell/actions';
import { DriftOfOptions } from './DriftOfOptions';
import { rounded } from './figures';
import { Reference } from './Reference';
import { filled, windowWords } from './windows';

const route = getRouteApi('/frame/prisms/$prism/quality');

interface DriftPartProps {
  prism: Prism;
  version: number;
  question: Question;
  /** The option of it that is looked at, where each is watched by itself. */
  option?: string | undefined;
  days: boolean;
}

/** Whether the answers of the last hour and day are distributed as those of the reference. */
export function DriftPart({ prism, version, question, option, days }: DriftPartProps) {
  const client = useQueryClient();
  const canEdit = useCan('edit');
  const [asking, setAsking] = useState(false);
  const [setting, setSetting] = useState(false);
  const { data, error, refetch } = useQuery(driftQuery(prism.slug, version));
  const watch = useMutation({
    mutationFn: (watched: boolean) => setDrift(prism.slug, { watched }),
    onSuccess: async (_, watched) => {
      setAsking(false);
      await client.invalidateQueries({ queryKey: ['drift', prism.slug] });
      toast(watched
        ? `${prism.slug} is watched. Its answers are counted within a minute or so.` : `${prism.slug} is not watched any more.`);
    },
  });
  const act = (label: string, run: () => void) => ({ id: `drift ${label}`, group: 'Quality', label, run });
  useActions(!canEdit || !data ? [] : !data.watched ? [act('Watch for drift', () => watch.mutate(true))] : [
    act('Stop watching for drift', () => setAsking(true)), act('Change the reference of drift', () => setSetting(true)),
  ]);
  const several = kindOf(question).several !== undefined;
  const found = data?.questions.find((q) => q.question === question.key && q.option === option);
  return (
    <Section title="Drift" actions={canEdit && data?.watched && (
      <>
        <Button small onClick={() => setSetting(true)}>Change reference</Button>
        <Button small onClick={() => setAsking(true)}>Stop watching</Button>
      </>
    )}>
      <ErrorNote error={error} title="The drift could not be loaded." onRetry={() => void refetch()} />
      <ErrorNote error={asking ? undefined : watch.error} title="The prism is not watched." />
      {!data && !error && <><Skeleton shape="chart" /><Skeleton shape="table" lines={3} /></>}
      {data && !data.watched && (
        <Empty title="Nobody watches this prism" drawing="drift" command={`prismctl quality watch ${prism.slug}`}
          action={canEdit
            ? <Button variant="primary" busy={watch.isPending} onClick={() => watch.mutate(true)}>Watch for drift</Button>
            : <span className="soft">Owners and editors may watch it.</span>}>
          Watched, its answers are counted and compared with its first 2,000 results: by the hour and by the day, without labels
          and without texts.
        </Empty>
      )}
      {data?.watched && found && <Watched data={data} found={found} days={days} />}
      {data?.watched && several && <DriftOfOptions question={question} drift={data.questions} />}
      {data?.watched && option !== undefined && !found && (
        <Note>Of a question of tags the 20 options that are answered most are watched, and this is none of them.</Note>
      )}
      {data?.watched && kindOf(question).moves && <Moved prism={prism} question={question} />}
      <Confirm open={asking} onClose={() => setAsking(false)} onConfirm={() => watch.mutate(false)} busy={watch.isPending}
        verb="Stop watching" title={`Stop watching ${prism.slug}?`} error={<ErrorNote error={watch.error} />}>
        <p>What was counted of its answers, and the reference periods of its versions, are deleted. Results stay.</p>
      </Confirm>
      {setting && data && (
        <Reference prism={prism.slug} version={version} reference={data.reference} onClose={() => setSetting(false)} />
      )}
    </Section>
  );
}

function Watched({ data, found, days }: { data: Drift; found: Drift['questions'][number]; days: boolean }) {
  const { reference } = data;
  // The last point is what the words above say: that of the last hour or day, which goes on.
  const latest = { at: days ? 'the last day' : 'the last hour', window: days ? found.day : found.hour };
  const windows = [
    ...filled(days ? found.days : found.hours, days ? 24 : 1)
      .map(({ at, window }) => ({ at: utc(at)!.slice(0, days ? 10 : 16), window })),
    latest,
  ];
  return (
    <>
      <ul className="quality-windows">
        {([['hour', 'The last hour'], ['day', 'The last day']] as const).map(([key, name]) => (
          <li key={key}>{name}: <Badge tone={found[key].alarm ? 'warn' : found[key].probability ? 'good' : 'neutral'}>
            {windowWords(found[key])}
          </Badge></li>
        ))}
      </ul>
      <p className="soft">
        Counted to <Time at={data.counted_to} />, against{' '}
        {reference?.kind === 'set' ? `the period from ${utc(reference.from)} to ${utc(reference.to)} UTC` : 'the first results'}
        : {count(reference?.results ?? 0, 'result')}{(reference?.results ?? 0) < 500 && ', of at least 500'}.
      </p>
      {!found.metrics && (
        <Note>
          This question has no metrics, and so no alert: watched prisms of all accounts share those of 39 questions, of their
          latest versions.
        </Note>
      )}
      <nav className="choices" aria-label="Span of each point">
        {([[undefined, 'Hours'], ['days', 'Days']] as const).map(([value, label]) => (
          <route.Link key={label} to="." search={(before) => ({ ...before, span: value })} replace resetScroll={false}
            className={(value === 'days') === days ? 'chosen-one' : undefined}>
            {label}
          </route.Link>
        ))}
      </nav>
      {!windows.some(({ window }) => window?.probability) ? (
        <Note>No {days ? 'day' : 'hour'} has had enough results to compare: 100 of its own, and 500 of the reference.</Note>
      ) : (
        <div className="quality-pair">
          {([['probability', 'Top probabilities'], ['classes', 'Answers']] as const).map(([key, name]) => (
            <AreaChart key={key} title={name} label={`Stability index of ${name.toLowerCase()}`}
              times={windows.map((w) => w.at)} format={rounded} axis={rounded}
              series={[
                { label: 'Index', values: windows.map((w) => w.window?.[key]?.psi ?? null) },
                { label: 'Limit', bare: true, values: windows.map((w) => w.window?.[key]?.limit ?? null) },
              ]} />
          ))}
        </div>
      )}
      <p className="soft">
        The population stability index is 0 where answers are distributed as in the reference; above its limit it is an alarm. An
        alarm does not say that answers are wrong: label some to see. Gaps have fewer than 100 results.
      </p>
    </>
  );
}

/** Which answers moved: those of the last days beside those before, which the overview shows too. */
function Moved({ prism, question }: { prism: Prism; question: Question }) {
  const { data, error, refetch } = useQuery(dailyQuery(prism.slug, question.key));
  const bounds = thresholds(question, prism.lens.columns);
  const to = dayAfter(today(), 1);
  const { layers, answers } = allLayersOf(data ?? { data: [] }, question, bounds, dayAfter(to, -span), to);
  if (error) return <ErrorNote error={error} title="The answers could not be counted." onRetry={() => void refetch()} />;
  if (answered(layers) === 0) return null;
  return (
    <div className="quality-moved">
      <Lately prism={prism.slug} question={question} layers={layers} answers={answers} bounds={bounds} />
    </div>
  );
}

const utc = (at: string | null) => at?.slice(0, 16).replace('T', ' ');
