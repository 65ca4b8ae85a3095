import { Link } from '@tanstack/react-router';
import { foldedShares, sharesOf } from '@/answers/distribution';
import type { Question } from '@/answers/words';
import { ShareBar } from '@/charts';
import { over } from '@/data/events';
import { doneOf, type Run } from '@/data/runs';
import { Badge, shown, Status, wholePercent } from '@/design';
import { useRunCounts } from './answers';
import { leftText } from './Figures';

/** The state of a run; one that is over with failures is amber, and says how many. */
export function RunStatus({ run }: { run: Run }) {
  return over(run) && run.failed > 0
    ? <Badge tone="warn">{run.status}, {shown(run.failed)} failed</Badge> : <Status status={run.status} />;
}

interface Props {
  run: Run;
  question: Question;
  bounds: { no: number; yes: number };
}

/** A run in two lines: its name with how far it is, and its answers. */
export function RunLine({ run, question, bounds }: Props) {
  const counts = useRunCounts(run, [question]);
  const shares = sharesOf(question, counts?.by[question.key] ?? [], bounds);
  const name = run.name ?? 'A run without a name';
  const left = leftText(run);
  return (
    <li>
      <div className="row">
        <Link to="/runs/$run" params={{ run: run.id }} className="grow clip">{name}</Link>
        {run.status === 'running'
          ? <span className="num">{wholePercent(doneOf(run) / Math.max(1, run.rows))}{left !== '–' && `, ${left} left`}</span>
          : <RunStatus run={run} />}
      </div>
      <ShareBar label={`Answers of ${name}`} parts={foldedShares(shares)
        .map((part) => ({ ...part, share: (part.share * run.ok) / Math.max(1, run.rows) }))} />
    </li>
  );
}
