import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, ask, type Schemas } from '@/api';
import { Badge, Button, Copy, duration, ErrorNote, Note } from '@/design';
import { found, parts, verdict } from './words';

/** Checks a model, and says in words what was found and what to write. */
export function Check({ name }: { name: string }) {
  const client = useQueryClient();
  const mutationKey = ['check', name];
  const check = useMutation({
    mutationKey,
    mutationFn: () => ask(api.POST('/v1/models/{name}/check', { params: { path: { name } } })),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['models'] });
      void client.invalidateQueries({ queryKey: ['usage'] });
    },
  });
  const begin = () => { // once, also for a press before the button says that it is busy
    if (client.isMutating({ mutationKey }) === 0) check.mutate();
  };
  return (
    <section className="models-check" aria-label="Check">
      <div className="row">
        <Button icon="play" busy={check.isPending} onClick={begin}>
          {check.isPending ? 'Checking …' : 'Check'}
        </Button>
        <span className="soft">Two known questions, at most 15 seconds. It counts as a result does.</span>
      </div>
      <div role="status" className="stack">
        {check.data && !check.isPending && <Findings check={check.data} />}
      </div>
      {!check.isPending && <ErrorNote error={check.error} onRetry={begin} />}
    </section>
  );
}

/** What a check found. */
function Findings({ check }: { check: Schemas['ModelCheck'] }) {
  const { tone, text } = verdict(check);
  return (
    <>
      <Note tone={tone}>{text} <span className="soft">Checked in {duration(check.took_ms)}.</span></Note>
      <ul className="models-parts">
        {check.checks.map((part) => (
          <li key={part.part}>
            <Badge tone={found[part.status]}>{parts[part.part]}</Badge>
            <div>
              <p>{part.text}</p>
              {part.write && (
                <p className="models-write">
                  <span className="soft">Write </span><code>{part.write}</code>
                  <Copy text={part.write} label="Copy what to write" />
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
