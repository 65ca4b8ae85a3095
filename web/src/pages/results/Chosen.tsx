import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useCan } from '@/api';
import { Button, Confirm, count, Dialog, ErrorNote, Note, Progress, toast } from '@/design';
import { deleteResult, forget, type Result, retryResult } from './data';
import { each } from './many';

/** What can be done with the selected results. It stands at the bottom of the window. */
export function Chosen({ results, onClear, onMatching }: { results: Result[]; onClear: () => void; onMatching: () => void }) {
  const [asking, setAsking] = useState<'retry' | 'delete'>();
  const [mayRetry, mayDelete] = [useCan('call'), useCan('edit')];
  const failed = results.filter(({ status }) => status === 'failed');
  return (
    <div className="results-chosen" role="region" aria-label="Selected results">
      <strong className="num" role="status">{count(results.length, 'result')} selected</strong>
      {mayRetry && (
        <Button small icon="retry" disabled={failed.length === 0} onClick={() => setAsking('retry')}>
          {failed.length ? `Retry ${count(failed.length, 'failed one')}` : 'Retry'}
        </Button>
      )}
      {mayRetry && <Button small onClick={onMatching}>Retry all that match</Button>}
      {mayDelete && <Button small icon="trash" onClick={() => setAsking('delete')}>Delete</Button>}
      <Button small variant="quiet" icon="close" onClick={onClear}>Clear the selection</Button>
      {asking === 'retry' && <RetryChosen results={failed} onClose={() => setAsking(undefined)} onDone={onClear} />}
      {asking === 'delete' && <DeleteChosen results={results} onClose={() => setAsking(undefined)} onDone={onClear} />}
    </div>
  );
}

interface Props {
  results: Result[];
  onClose: () => void;
  onDone: () => void;
}

/** Runs one call for each result, with progress; what failed is said at the end. */
function useEach(results: Result[], work: (id: string) => Promise<unknown>) {
  const [at, setAt] = useState({ done: 0, failed: 0 });
  const under = useRef<AbortController>(undefined);
  const run = useMutation({
    mutationFn: () => {
      under.current = new AbortController();
      return each(results.map(({ id }) => id), work, (done, failed) => setAt({ done, failed }), under.current.signal);
    },
  });
  return { ...run, at, stop: () => under.current?.abort() };
}

function RetryChosen({ results, onClose, onDone }: Props) {
  const client = useQueryClient();
  const run = useEach(results, retryResult);
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

function DeleteChosen({ results, onClose, onDone }: Props) {
  const client = useQueryClient();
  const gone = useRef(new Set<string>());
  const run = useEach(results, (id) => deleteResult(id).then(() => gone.current.add(id)));
  const start = () => run.mutate(undefined, {
    onSuccess: ({ done, failed }) => {
      forget(client, gone.current);
      if (failed.length) return;
      toast(`${count(done, 'result')} deleted.`);
      onDone();
      onClose();
    },
  });
  return (
    <Confirm open onClose={() => { run.stop(); onClose(); }} onConfirm={start} busy={run.isPending}
      verb={`Delete ${count(results.length, 'result')}`}
      title={`Delete ${count(results.length, 'result')}?`} error={
        <ErrorNote error={run.data?.failed[0]} title={`${count(run.at.failed, 'result is', 'results are')} still there.`} />
      }>
      <p>They are deleted for good, with their fields and records. This cannot be undone.</p>
      {run.isPending && <Progress label="Deleted" max={results.length} value={run.at.done} />}
    </Confirm>
  );
}
