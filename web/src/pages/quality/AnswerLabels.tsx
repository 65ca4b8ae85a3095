import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { api, ask, type Schemas, useCan } from '@/api';
import { told } from '@/data/runs';
import { Button, count, Dialog, ErrorNote, money, shown } from '@/design';

type Dry = Schemas['DryRun'];

/** Has one version answer the labelled inputs of another one, so that the two can be compared. What it takes is said before. */
export function AnswerLabels({ prism, labelled, by }: { prism: string; labelled: number; by: number }) {
  const canEdit = useCan('edit');
  const client = useQueryClient();
  const navigate = useNavigate();
  const [plan, setPlan] = useState<Dry>();
  const once = useRef(crypto.randomUUID()); // a start whose response was lost is no second run
  const params = { path: { prism } };
  const body = { from_labels_of: labelled, version: by };
  const dry = useMutation({ mutationFn: () => ask(api.POST(
    '/v1/prisms/{prism}/runs', { params, body: { ...body, dry_run: true } },
  )) as Promise<unknown> as Promise<Dry>, onSuccess: setPlan });
  const start = useMutation({
    mutationFn: () => ask(api.POST(
      '/v1/prisms/{prism}/runs', { params, body: { ...body, idempotency_key: once.current } },
    )) as Promise<unknown> as Promise<Schemas['Run']>,
    onSuccess: (run) => {
      told(client, run);
      void client.invalidateQueries({ queryKey: ['runs', 'list'] });
      void client.invalidateQueries({ queryKey: ['quality', prism] });
      void navigate({ to: '/runs/$run', params: { run: run.id } });
    },
  });
  if (!canEdit) return null;
  return (
    <>
      <Button icon="play" busy={dry.isPending} onClick={() => dry.mutate()}>
        Answer the labelled inputs of version {labelled} with version {by}
      </Button>
      <ErrorNote error={dry.error} title="Nothing was started." />
      <Dialog open={plan !== undefined} onClose={() => setPlan(undefined)}
        title={`Answer ${count(plan?.rows ?? 0, 'labelled input')} with version ${by}?`} onSubmit={() => start.mutate()}
        actions={
          <>
            <Button onClick={() => setPlan(undefined)}>Cancel</Button>
            <Button type="submit" variant="primary" busy={start.isPending}>Start the run</Button>
          </>
        }>
        <div className="stack">
          <p>
            A run answers each input with version {by} of {prism} and gives its result the same labels. It
            makes {count(plan?.model_calls ?? 0, 'model call')}
            {plan?.cost != null ? `, about ${money(plan.cost, plan.currency)}` : ''}
            {plan?.tokens != null ? `, and reads about ${shown(plan.tokens)} tokens` : ''}.
          </p>
          <ErrorNote error={start.error} title="The run was not started." />
        </div>
      </Dialog>
    </>
  );
}
