import { moving } from '@/data/events';
import { doneOf, type Run } from '@/data/runs';
import { count, duration, percent, Progress, shown } from '@/design';

/** How far a run is, by the states of its rows. */
export function RunProgress({ run }: { run: Run }) {
  return (
    <Progress label={`Progress of ${run.name ?? 'the run'}`} max={Math.max(1, run.rows)} parts={[
      { value: run.ok, tone: 'good', label: 'ok' }, { value: run.failed, tone: 'bad', label: 'failed' },
      { value: run.invalid, tone: 'warn', label: 'invalid' }, { value: run.cancelled, tone: 'neutral', label: 'cancelled' },
    ]} />
  );
}

/** `4,201 of 12,000 rows, 35%`. */
export const doneText = (run: Run) =>
  `${shown(doneOf(run))} of ${count(run.rows, 'row')}, ${run.rows ? percent(doneOf(run) / run.rows) : '0%'}`;

/** `49.6/s`, while the run moves. */
export const rateText = (run: Run) =>
  (moving(run) && run.rows_per_second_now > 0 ? `${shown(Math.round(run.rows_per_second_now * 10) / 10)}/s` : '–');

export const leftText = (run: Run) => (moving(run) && run.eta_seconds !== null ? duration(run.eta_seconds * 1000) : '–');

/** `49.6 rows a second, 2 min 38 s left`, as far as it is known. */
export function paceText(run: Run): string {
  const rate = run.rows_per_second_now > 0 ? `${rateText(run).replace('/s', '')} rows a second` : undefined;
  return [rate, run.eta_seconds === null ? undefined : `${leftText(run)} left`].filter(Boolean).join(', ');
}
