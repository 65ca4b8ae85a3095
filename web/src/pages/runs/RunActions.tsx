import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, ApiError, ask, useCan } from '@/api';
import { over } from '@/data/events';
import { act, type Run, told, useFile } from '@/data/runs';
import { Button, Code, Confirm, count, Dialog, ErrorNote, Input, Select, toast } from '@/design';
import { useActions } from '@/shell/actions';
import { download, fileName, withQuery } from '../results/download';
import { DownloadDialog } from '../results/DownloadDialog';
import { limitOf, limitProblem } from './limits';
import { type Only, onlys } from './search';

type Verb = Parameters<typeof act>[0];
const done: Record<Verb, string> = {
  pause: 'The run pauses: calls that are under way end first.', resume: 'The run goes on.', cancel: 'The run is cancelled.',
  retry: 'The failed rows are sent again.',
};

/** Pause, resume, cancel, retry, limits and download of a run, as far as its state and the member's role allow. */
export function RunActions({ run, only }: { run: Run; only: Only }) {
  const client = useQueryClient();
  const may = useCan('call');
  const [dialog, setDialog] = useState<'cancel' | 'retry' | 'limits' | 'download'>();
  const change = useMutation({
    mutationFn: (verb: Verb) => act(verb, run.id),
    onSuccess: (now, verb) => {
      told(client, now);
      void client.invalidateQueries({ queryKey: ['runs', 'rows', run.id] });
      setDialog(undefined);
      toast(done[verb]);
    },
  });
  const close = () => { change.reset(); setDialog(undefined); };
  const can = {
    pause: may && (run.status === 'running' || run.status === 'queued'),
    resume: may && (run.status === 'paused' || run.status === 'pausing'),
    cancel: may && !over(run) && run.status !== 'cancelling',
    retry: may && run.failed > 0,
    limits: may && !over(run),
  };
  useActions([
    ...(can.pause
      ? [{ id: 'run-pause', group: 'Run', label: 'Pause the run', keys: 'p', run: () => change.mutate('pause') }] : []),
    ...(can.resume
      ? [{ id: 'run-resume', group: 'Run', label: 'Resume the run', keys: 'p', run: () => change.mutate('resume') }] : []),
    ...(can.cancel ? [{ id: 'run-cancel', group: 'Run', label: 'Cancel the run', run: () => setDialog('cancel') }] : []),
    ...(can.retry ? [{ id: 'run-retry', group: 'Run', label: 'Retry the failed rows', run: () => setDialog('retry') }] : []),
    ...(can.limits
      ? [{ id: 'run-limits', group: 'Run', label: 'Change the limits of the run', run: () => setDialog('limits') }] : []),
    {
      id: 'run-download', group: 'Run', label: 'Download the answers', words: 'csv tsv jsonl xlsx parquet', keys: 'd',
      run: () => setDialog('download'),
    },
  ]);
  const name = run.name ?? 'this run';
  return (
    <>
      {can.limits && <Button onClick={() => setDialog('limits')}>Limits</Button>}
      {can.retry && <Button icon="retry" onClick={() => setDialog('retry')}>Retry failed</Button>}
      {can.pause && <Button icon="pause" busy={change.isPending} onClick={() => change.mutate('pause')}>Pause</Button>}
      {can.resume && (
        <Button icon="play" variant="primary" busy={change.isPending} onClick={() => change.mutate('resume')}>Resume</Button>
      )}
      {can.cancel && <Button icon="stop" onClick={() => setDialog('cancel')}>Cancel</Button>}
      {over(run) && run.rows < excelRows && <Excel run={run} />}
      <Button icon="download" onClick={() => setDialog('download')}>Download</Button>
      {dialog === undefined && <ErrorNote error={change.error} title="Nothing was changed." />}
      <Confirm open={dialog === 'cancel'} onClose={close} onConfirm={() => change.mutate('cancel')} busy={change.isPending}
        verb="Cancel run" keep="Keep run" title={`Cancel ${name}?`} error={<ErrorNote error={change.error} />}>
        <p>{count(run.pending, 'row')} will not be sent. {run.ok + run.failed === 0 ? 'There is no result yet.'
          : `${count(run.ok + run.failed, 'result stays', 'results stay')}.`} A cancelled run cannot be resumed.</p>
      </Confirm>
      <Dialog open={dialog === 'retry'} onClose={close} title={`Retry ${count(run.failed, 'failed row')} of ${name}?`} actions={
        <>
          <Button onClick={close}>Close</Button>
          <Button variant="primary" icon="retry" busy={change.isPending} onClick={() => change.mutate('retry')}>
            Retry {count(run.failed, 'row')}
          </Button>
        </>
      }>
        <div className="stack">
          <p>
            Each of them is sent to the model again and gets a new result. The {count(run.ok, 'row')} with an answer and
            the {count(run.invalid, 'invalid one')} stay as they are.
          </p>
          <ErrorNote error={change.error} />
          <Code text={`prismctl runs retry ${run.id} --watch`} label="Copy command" />
        </div>
      </Dialog>
      {dialog === 'limits' && <Limits run={run} onClose={close} />}
      {dialog === 'download' && <Download run={run} only={only} onClose={close} />}
    </>
  );
}

/** Limits as they are typed: an empty text is no limit. */
function Limits({ run, onClose }: { run: Run; onClose: () => void }) {
  const [rate, setRate] = useState('');
  const [places, setPlaces] = useState('');
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: () => ask(api.PUT('/v1/runs/{run_id}/limits', {
      params: { path: { run_id: run.id } },
      body: { rows_per_second: limitOf(rate) ?? null, concurrency: limitOf(places) ?? null },
    })),
    onSuccess: (now) => {
      told(client, now);
      toast('The limits are changed.');
      onClose();
    },
  });
  const typed = { rows_per_second: limitProblem(rate), concurrency: limitProblem(places, true) };
  const wrong = Object.values(typed).some(Boolean);
  const problem = (path: keyof typeof typed) =>
    typed[path] ?? (save.error instanceof ApiError ? save.error.problem(path) : undefined);
  return (
    <Dialog open onClose={onClose} title={`Limits of ${run.name ?? 'this run'}`}
      onSubmit={() => { if (!wrong && !save.isPending) save.mutate(); }} actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" busy={save.isPending} disabled={wrong}>Set limits</Button>
        </>
      }>
      <div className="stack">
        <p className="soft">Both limits are replaced: an empty one is no limit.</p>
        <Input label="Rows a second at most" inputMode="decimal" value={rate} placeholder="no limit"
          error={problem('rows_per_second')} onChange={(event) => setRate(event.target.value)} />
        <Input label="Rows at the model at once, at most" inputMode="numeric" value={places} placeholder="no limit"
          error={problem('concurrency')} onChange={(event) => setPlaces(event.target.value)} />
        <ErrorNote error={problem('rows_per_second') || problem('concurrency') ? undefined : save.error} />
      </div>
    </Dialog>
  );
}

const excelRows = 1_048_576; // of a sheet, with its head

/** The name of a file with answers of a run. */
const answersName = (run: Run, only: Only, format: string) => fileName(
  [(run.name ?? run.prism).replace(/\.(csv|tsv|jsonl|xlsx|parquet)$/i, ''), ...(only === 'all' ? ['answers'] : [only])], format,
  new Date(),
);

/** Downloads the whole run as a person opens it, without a question. */
function Excel({ run }: { run: Run }) {
  const name = answersName(run, 'all', 'xlsx');
  const under = useRef<AbortController>(undefined);
  useEffect(() => () => under.current?.abort(), []);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => download(withQuery(`/v1/runs/${run.id}/rows`, { format: 'xlsx' }), name, {
      stream: false, onBytes: () => {}, signal: (under.current = new AbortController()).signal,
    }),
    onSuccess: () => toast(`${name} is downloaded.`),
  });
  return (
    <>
      <Button icon="download" variant="primary" busy={isPending} onClick={() => mutate()}>Download Excel</Button>
      <ErrorNote error={error} title="The download did not finish." onRetry={() => mutate()} />
    </>
  );
}

const formats = [
  ['csv', 'CSV, with labels'], ['xlsx', 'Excel (xlsx)'], ['tsv', 'TSV, with labels'], ['jsonl', 'JSON Lines'],
  ['parquet', 'Parquet, with keys'],
] as const;

/** The format of the file comes first. */
function Download({ run, only: first, onClose }: { run: Run; only: Only; onClose: () => void }) {
  const [only, setOnly] = useState(first);
  const { data: file } = useFile(run.file_id);
  const own = formats.filter(([format]) => format === file?.format);
  const name = (format: string) => answersName(run, only, format);
  return (
    <DownloadDialog key={file?.format} title={`Download ${run.name ?? 'the run'}`}
      formats={[...own, ...formats.filter((one) => !own.includes(one))]} large={run.rows > 500_000} onClose={onClose}
      name={name}
      path={(format, style) => withQuery(`/v1/runs/${run.id}/rows`, { format, only, ...style })}
      command={(format) => `prismctl runs download ${run.id}${only === 'all' ? '' : ` --only ${only}`} --file ${name(format)}`}>
      <p>
        The columns of the file as they came, then the state of each row, then the columns that the prism shows (its Lens). In
        Excel those of the Lens come first.{!over(run) && ' Rows that wait have the state pending.'}
      </p>
      <Select label="Rows" value={only}
        options={onlys.map((one) => [one, one === 'all' ? 'All rows' : `Only ${one} rows`] as const)}
        onChange={(event) => setOnly(event.target.value as Only)} />
    </DownloadDialog>
  );
}
