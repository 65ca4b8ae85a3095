import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api, ask } from '@/api';
import { Button, count, Dialog, ErrorNote, Note, Progress, Select, shown, Skeleton, toast } from '@/design';
import { assign, readAssignee, useAssignable } from './comments';
import { each } from './many';
import { listQuery, type ListQuery, type ResultsSearch } from './search';
import { useEach } from './useEach';

interface Props {
  onClose: () => void;
  onDone: () => void;
}

/** Results that are assigned at once: each is a call. */
const most = 1000;

/** The ids of the results of a filter; more than `most` if there are more. */
async function idsOf(query: ListQuery, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const params = { query: { ...query, limit: 100, cursor } };
    const { data, next_cursor } = await ask(api.GET('/v1/results', { params, signal }));
    ids.push(...data.map(({ id }) => id));
    if (next_cursor === null || ids.length > most) return ids;
    cursor = next_cursor;
  }
}

/** Assigns every result that matches: those that are counted are those that are assigned, whatever is saved meanwhile. */
export function AssignMatching({ search, onClose, onDone }: { search: ResultsSearch } & Props) {
  const query = listQuery(search);
  const found = useQuery({
    queryKey: ['results', 'assigning', query], queryFn: ({ signal }) => idsOf(query, signal), staleTime: 0, gcTime: 0,
    placeholderData: undefined,
  });
  const ids = found.data;
  if (ids && ids.length > 0 && ids.length <= most) return <AssignMany ids={ids} onClose={onClose} onDone={onDone} />;
  return (
    <Dialog open onClose={onClose} title="Assign all that match" actions={<Button onClick={onClose}>Close</Button>}>
      {ids ? (
        <p>{ids.length === 0 ? 'No result matches.' : `More than ${shown(most)} results match. Narrow them by filters first.`}</p>
      ) : !found.error && <Skeleton lines={2} />}
      <ErrorNote error={found.error} title="They could not be counted." onRetry={() => void found.refetch()} />
    </Dialog>
  );
}

/** Assigns results to a member, or to nobody. What they were assigned to before is back by Undo. */
export function AssignMany({ ids, onClose, onDone }: { ids: string[] } & Props) {
  const client = useQueryClient();
  const members = useAssignable();
  const [to, setTo] = useState<string>();
  const before = useRef(new Map<string, string | null>());
  const member = to || null;
  const run = useEach(ids, async (id) => {
    const was = (await readAssignee(id))?.id ?? null;
    if (was === member) return;
    await assign(id, member);
    before.current.set(id, was);
  });
  const renew = () => {
    for (const about of ['assignee', 'counts', 'list']) void client.invalidateQueries({ queryKey: ['results', about] });
  };
  const undo = () => {
    const changed = [...before.current];
    void each(changed.map(([id]) => id), (id) => assign(id, before.current.get(id) ?? null), () => undefined, never)
      .then(({ failed }) => {
        renew();
        toast(failed.length ? `${count(failed.length, 'result is', 'results are')} still assigned as it was said.`
          : 'They are assigned as before.');
      });
  };
  const name = members.find(({ id }) => id === to)?.name ?? 'nobody';
  const start = () => run.mutate(undefined, {
    onSuccess: ({ done, failed }) => {
      renew();
      if (failed.length) return;
      toast(`${count(done, 'result')} assigned to ${name}.`, before.current.size > 0 ? undo : undefined);
      onDone();
      onClose();
    },
  });
  const close = () => { run.stop(); onClose(); };
  const over = run.data !== undefined;
  const results = count(ids.length, 'result');
  return (
    <Dialog open firm={run.isPending} onClose={close} title={`Assign ${results}`}
      onSubmit={() => { if (to !== undefined && !run.isPending && !over) start(); }} actions={
        <>
          <Button onClick={close}>{run.isPending ? 'Stop' : over ? 'Close' : 'Cancel'}</Button>
          {!over && (
            <Button type="submit" variant="primary" busy={run.isPending} disabled={to === undefined}>Assign {results}</Button>
          )}
        </>
      }>
      <div className="stack">
        <Select label="Who looks at them" value={to ?? '-'} disabled={run.isPending || over}
          onChange={({ target: { value } }) => setTo(value === '-' ? undefined : value)}
          options={[['-', 'A member …'], ...members.map((one) => [one.id, one.name] as const), ['', 'Nobody']]} />
        {(run.isPending || over) && <Progress label="Assigned" max={ids.length} parts={[
          { value: run.at.done - run.at.failed, tone: 'good', label: 'assigned' },
          { value: run.at.failed, tone: 'bad', label: 'not assigned' },
        ]} />}
        {over && <Note tone="warn">{count(run.at.failed, 'result was', 'results were')} not assigned.</Note>}
        {run.data?.failed[0] !== undefined && <ErrorNote error={run.data.failed[0]} title="The first reason:" />}
      </div>
    </Dialog>
  );
}

const never = new AbortController().signal;
