import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ApiError, ask, type Schemas } from '@/api';
import type { Listed } from '@/data/results';
import { Button, count, Dialog, ErrorNote, Select, Skeleton, toast } from '@/design';
import { useAssignable } from './comments';
import { matchNow } from './many';
import { exportQuery, type ResultsSearch } from './search';

type Assignment = Schemas['ResultAssignment'];
type Which = Omit<Assignment, 'member_id' | 'expect' | 'dry_run'>;

/** Results of a prism that are assigned by one call, and how many they are. */
interface Part {
  prism: string;
  which: Which;
  n: number;
}

interface Props {
  onClose: () => void;
  onDone: () => void;
}

const send = (prism: string, body: Assignment) =>
  ask(api.POST('/v1/prisms/{prism}/results/assign', { params: { path: { prism } }, body }));

/** Assigns a part. Of results that are named by their ids, those that were deleted meanwhile are left out. */
async function assign({ prism, which, n }: Part, member_id: string | null): Promise<Schemas['Assigned']> {
  try {
    return await send(prism, { ...which, member_id, expect: n });
  } catch (error) {
    const now = matchNow(error);
    if (!which.ids || now === undefined || now === n) throw error;
    return send(prism, { ...which, member_id, expect: now });
  }
}

/** The results by their prisms. */
function partsOf(results: Pick<Listed, 'id' | 'prism'>[]): Part[] {
  const ids = new Map<string, string[]>();
  for (const { id, prism } of results) ids.set(prism, [...(ids.get(prism) ?? []), id]);
  return [...ids].map(([prism, of]) => ({ prism, which: { ids: of }, n: of.length }));
}

/** Assigns every result that matches, if it is still as many as the reader was told. */
export function AssignMatching({ search, onClose, onDone }: { search: ResultsSearch } & Props) {
  const { prism } = search;
  const which = exportQuery(search) as Which;
  const found = useQuery({
    queryKey: ['results', 'assigning', prism, which], enabled: prism !== undefined,
    queryFn: async () => (await send(prism!, { ...which, member_id: null, dry_run: true })).assigned,
    staleTime: 0, gcTime: 0, retry: false, placeholderData: undefined,
  });
  const n = found.data;
  if (prism !== undefined && n) return <Assigning parts={[{ prism, which, n }]} onClose={onClose} onDone={onDone} />;
  const many = found.error instanceof ApiError && /^More than (\d+) results match\.$/.exec(found.error.message);
  return (
    <Dialog open onClose={onClose} title="Assign all that match" actions={<Button onClick={onClose}>Close</Button>}>
      {prism === undefined ? <p>All that match are assigned of one prism at a time. Choose a prism in the filters first.</p>
        : many ? <p>More than {Number(many[1]).toLocaleString('en-US')} results match. Narrow them by filters first.</p>
        : n === 0 ? <p>No result matches.</p> : !found.error && <Skeleton lines={2} />}
      {!many && <ErrorNote error={found.error} title="They could not be counted." onRetry={() => void found.refetch()} />}
    </Dialog>
  );
}

/** Assigns results that are selected. */
export const AssignMany = ({ results, onClose, onDone }: { results: Pick<Listed, 'id' | 'prism'>[] } & Props) =>
  <Assigning parts={partsOf(results)} onClose={onClose} onDone={onDone} />;

/** Assigns results to a member, or to nobody. What they were assigned to before is back by Undo. */
function Assigning({ parts, onClose, onDone }: { parts: Part[] } & Props) {
  const client = useQueryClient();
  const members = useAssignable();
  const [to, setTo] = useState<string>();
  const name = members.find(({ id }) => id === to)?.name ?? 'nobody';
  const results = count(parts.reduce((sum, { n }) => sum + n, 0), 'result');
  const renew = () => {
    for (const about of ['assignee', 'counts', 'list']) void client.invalidateQueries({ queryKey: ['results', about] });
  };
  const back = async (changed: { part: Part; member: string | null }[]) => {
    try {
      for (const { part, member } of changed) await assign(part, member);
      toast('They are assigned as before.');
    } catch {
      toast('Not all of them could be assigned as before.');
    } finally {
      renew();
    }
  };
  const run = useMutation({
    mutationFn: async () => {
      let done = 0;
      const changed: { part: Part; member: string | null }[] = [];
      for (const part of parts) {
        const { assigned, before } = await assign(part, to || null);
        done += assigned;
        changed.push(...before.map(({ member_id, ids }) =>
          ({ part: { prism: part.prism, which: { ids }, n: ids.length }, member: member_id })));
      }
      return { done, changed };
    },
    onSuccess: ({ done, changed }) => {
      toast(`${count(done, 'result')} assigned to ${name}.`, changed.length > 0 ? () => void back(changed) : undefined);
      onDone();
      onClose();
    },
    onSettled: renew,
  });
  const now = matchNow(run.error);
  return (
    <Dialog open firm={run.isPending} onClose={onClose} title={`Assign ${results}`}
      onSubmit={() => { if (to !== undefined && !run.isPending) run.mutate(); }} actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={run.isPending} disabled={to === undefined}>Assign {results}</Button>
        </>
      }>
      <div className="stack">
        <Select label="Who looks at them" value={to ?? '-'} disabled={run.isPending}
          onChange={({ target: { value } }) => setTo(value === '-' ? undefined : value)}
          options={[['-', 'A member …'], ...members.map((one) => [one.id, one.name] as const), ['', 'Nobody']]} />
        <ErrorNote error={run.error} title={now === undefined ? 'They could not be assigned.'
          : `${count(now, 'result matches', 'results match')} now, and none was assigned. Close this, and select them again.`} />
      </div>
    </Dialog>
  );
}
