import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCan } from '@/api';
import { type Listed, retryResult } from '@/data/results';
import { Button, count, Dialog, ErrorNote, Note, Progress, toast } from '@/design';
import { AssignMany } from './AssignMany';
import { deleteLater } from './deleting';
import { LabelChosen } from './LabelChosen';
import { RunChosenAgain } from './RunAgain';
import { useEach } from './useEach';

interface ChosenProps {
  results: Listed[];
  /** Every result that matches is selected, of which there are so many as `total`. */
  all: boolean;
  total: string | undefined;
  /** Whether a queue of labels has all that match. */
  labels: boolean;
  onAll: (() => void) | undefined;
  onClear: () => void;
  /** Does something with all that match. */
  onMatching: (what: 'download' | 'label' | 'assign' | 'retry' | 'again' | 'delete') => void;
  onDownload: () => void;
}

/** What can be done with the selected results, or with all that match. It stands at the bottom of the window. */
export function Chosen({ results, all, total, labels, onAll, onClear, onMatching, onDownload }: ChosenProps) {
  const [asking, setAsking] = useState<'retry' | 'label' | 'assign' | 'again'>();
  const client = useQueryClient();
  const [mayRetry, mayDelete, mayLabel] = [useCan('call'), useCan('edit'), useCan('label')];
  const failed = results.filter(({ status }) => status === 'failed');
  const remove = () => { deleteLater(client, results.map(({ id }) => id)); onClear(); };
  return (
    <div className="results-chosen" role="region" aria-label="Selected results">
      <strong className="num" role="status">{all ? total ?? 'All that match' : count(results.length, 'result')} selected</strong>
      {onAll && !all && <Button small variant="quiet" onClick={onAll}>Select all{total && ` ${total}`} that match</Button>}
      <Button small icon="download" onClick={() => (all ? onMatching('download') : onDownload())}>Download</Button>
      {mayLabel && (!all || labels) && (
        <Button small icon="check" onClick={() => (all ? onMatching('label') : setAsking('label'))}>Label</Button>
      )}
      {mayLabel && (
        <Button small icon="account" onClick={() => (all ? onMatching('assign') : setAsking('assign'))}>Assign</Button>
      )}
      {mayRetry && (
        <Button small icon="retry" disabled={!all && failed.length === 0}
          onClick={() => (all ? onMatching('retry') : setAsking('retry'))}>
          {all ? 'Retry failed ones' : failed.length ? `Retry ${count(failed.length, 'failed one')}` : 'Retry'}
        </Button>
      )}
      {mayRetry && (
        <Button small icon="play" onClick={() => (all ? onMatching('again') : setAsking('again'))}>Run again</Button>
      )}
      {mayDelete && (
        <Button small icon="trash" onClick={() => (all ? onMatching('delete') : remove())}>
          {all ? 'Delete all …' : `Delete ${count(results.length, 'result')}`}
        </Button>
      )}
      <Button small variant="quiet" icon="close" onClick={onClear}>Clear the selection</Button>
      {asking === 'retry' && <RetryChosen results={failed} onClose={() => setAsking(undefined)} onDone={onClear} />}
      {asking === 'again' && <RunChosenAgain results={results} onClose={() => setAsking(undefined)} />}
      {asking === 'assign' && (
        <AssignMany results={results} onClose={() => setAsking(undefined)} onDone={onClear} />
      )}
      {asking === 'label' && <LabelChosen results={results} onClose={() => setAsking(undefined)} onDone={onClear} />}
    </div>
  );
}

interface Props {
  results: Listed[];
  onClose: () => void;
  onDone: () => void;
}

function RetryChosen({ results, onClose, onDone }: Props) {
  const client = useQueryClient();
  const run = useEach(results.map(({ id }) => id), retryResult);
  const start = () => run.mutate(undefined, {
    onSuccess: ({ done, failed }) => {
      void client.invalidateQueries({ queryKey: ['results', 'newest'] });
      void client.invalidateQueries({ queryKey: ['results', 'one'] });
      if (failed.length) return;
      toast(`${count(done, 'result')} retried. The new results are at the top.`);
      onDone();
      onClose();
    },
  });
  const over = run.data !== undefined;
  return (
    <Dialog open firm onClose={() => { run.stop(); onClose(); }} title={`Retry ${count(results.length, 'failed result')}?`}
      actions={
        <>
          <Button onClick={() => { run.stop(); onClose(); }}>{run.isPending ? 'Stop' : over ? 'Close' : 'Cancel'}</Button>
          {!over && (
            <Button variant="primary" icon="retry" busy={run.isPending} onClick={start}>
              Retry {count(results.length, 'result')}
            </Button>
          )}
        </>
      }>
      <div className="stack">
        <p>Each is sent to the model again with the fields it has, and gets a new result.</p>
        {(run.isPending || over) && <Progress label="Retried" max={results.length} parts={[
          { value: run.at.done - run.at.failed, tone: 'good', label: 'retried' },
          { value: run.at.failed, tone: 'bad', label: 'not retried' },
        ]} />}
        {over && (
          <Note tone="warn">{count(run.at.failed, 'result was', 'results were')} not retried. A result can be retried once.</Note>
        )}
        {run.data?.failed[0] !== undefined && <ErrorNote error={run.data.failed[0]} title="The first reason:" />}
      </div>
    </Dialog>
  );
}
