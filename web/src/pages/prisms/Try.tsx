import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { ApiError, useCan } from '@/api';
import { bodyOf, type Call, callCommands } from '@/commands/commands';
import { SameCall } from '@/commands/SameCall';
import { useDraft } from '@/data/drafts';
import { createResult, usePrismOfPage, versionsQuery } from '@/data/prisms';
import { resultOptions, retryResult, useVersion } from '@/data/results';
import { problemsByPath } from '@/definitions/problems';
import { ErrorNote, Note, Select, Skeleton } from '@/design';
import { useActions } from '@/shell/actions';
import { Outcome } from './Outcome';
import { isFilled, nothing, TryForm, type Typed, valuesOf } from './TryForm';

const route = getRouteApi('/frame/prisms/$prism/try');

/** A form of the prism's fields; sending it is a create call, so the answer is stored as a result. */
export function Try(): ReactNode {
  const { prism } = usePrismOfPage();
  const { version: pinned, result } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const canCall = useCan('call');
  const [typed, setTyped] = useDraft<Typed>(`try.${prism.id}`);
  const versions = useQuery(versionsQuery(prism.slug));
  const old = useVersion(prism.slug, pinned === prism.latest_version ? undefined : pinned);
  const version = pinned === undefined || pinned === prism.latest_version ? prism.version : old.data;
  const made = useQuery({ ...resultOptions(result ?? ''), enabled: result !== undefined, placeholderData: undefined });
  // The same call has the same key, so that it is answered once when its response was lost.
  const attempt = useRef<{ body: string; key: string }>(undefined);

  const now = typed ?? (made.data ? typedOf(made.data.record) : nothing);
  const fields = version?.fields ?? [];
  const call: Call = {
    prism: prism.slug, fields: valuesOf(now, fields), ...(now.context && { context: now.context }),
    ...(now.ref && { ref: now.ref }),
    ...(version && version.version !== prism.latest_version && { version: version.version }),
  };
  const show = (id: string) => {
    void navigate({ search: (before) => ({ ...before, result: id }) });
    for (const queryKey of [['results'], ['usage'], ['prism', prism.slug, 'newest']]) void client.invalidateQueries({ queryKey });
  };
  const send = useMutation({
    mutationFn: () => {
      const body = JSON.stringify(bodyOf(call));
      if (attempt.current?.body !== body) attempt.current = { body, key: crypto.randomUUID() };
      return createResult(prism.slug, { ...bodyOf(call), idempotency_key: attempt.current.key });
    },
    onSuccess: ({ id }) => { attempt.current = undefined; show(id); },
  });
  const retry = useMutation({ mutationFn: retryResult, onSuccess: ({ id }) => show(id) });
  const seen = useRef<HTMLDivElement>(null);
  const busy = send.isPending || retry.isPending;
  useEffect(() => {
    if (send.isSuccess || retry.isSuccess) seen.current?.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
  }, [send.isSuccess, retry.isSuccess, result]);
  useActions(canCall && isFilled(now, fields)
    ? [{ id: 'send try', group: prism.slug, label: 'Ask the model', words: 'try call send', run: () => send.mutate() }] : []);

  const reason = !canCall
    ? 'Your role may not create results.' : prism.archived_at ? 'An archived prism takes no calls.' : undefined;
  const problems = send.error instanceof ApiError ? problemsByPath(send.error.problems) : undefined;
  const answered = made.data && (made.data.record.version === version?.version
    ? version : versions.data?.find((v) => v.version === made.data!.record.version));
  return (
    <div className="sides asking">
      <div className="stack">
        {versions.data && versions.data.length > 1 && (
          <Select className="version-select" label="Version" value={String(version?.version ?? pinned)}
            options={versions.data.map((v): [string, string] => [
              String(v.version), v.version === prism.latest_version ? `${v.version}, the latest` : String(v.version)])}
            onChange={(event) => {
              const chosen = Number(event.target.value);
              void navigate({ search: (before) => ({
                ...before, version: chosen === prism.latest_version ? undefined : chosen, result: undefined,
              }) });
            }} />
        )}
        <ErrorNote error={old.error} title="The version could not be loaded." onRetry={() => void old.refetch()} />
        {version
          ? <TryForm fields={fields} typed={now} onType={setTyped} onSend={() => send.mutate()} busy={busy} verb="Ask the model"
            reason={reason} problems={problems} withRef />
          : !old.error && <Skeleton shape="form" lines={2} />}
        <p className="soft">
          Each answer is stored as a result of this prism, as one of a program would be. To try a definition without saving, use
          Edit.
        </p>
        <SameCall commands={callCommands(location.origin, call)} />
      </div>
      <div ref={seen} className="outcome" aria-live="polite" aria-busy={busy || made.isFetching || undefined}>
        <ErrorNote error={problems?.size ? undefined : send.error} title="The call failed, and nothing was stored."
          onRetry={() => send.mutate()} />
        <ErrorNote error={retry.error} title="The retry failed." onRetry={() => result && retry.mutate(result)} />
        <ErrorNote error={made.error} title="The result could not be loaded." onRetry={() => void made.refetch()} />
        {made.data && answered ? (
          <Outcome result={made.data.raw} lens={made.data.shaped.answers} record={made.data.record} questions={answered.questions}
            columns={prism.lens.columns}
            onRetry={canCall && !prism.archived_at ? () => retry.mutate(made.data.raw.id) : undefined}
            retrying={retry.isPending} />
        ) : result ? !made.error && <Skeleton shape="bars" lines={8} /> : (
          <Note>The answer will be here: every question with every probability, what a call returns, tokens and time.</Note>
        )}
      </div>
    </div>
  );
}

/** What was sent for a result, to be sent again or changed. */
function typedOf({ fields, context, ref }: {
  fields: Record<string, string>; context: string | null; ref: string | null;
}): Typed {
  return { fields, context: context ?? '', ref: ref ?? '' };
}
