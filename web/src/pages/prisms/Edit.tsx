import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api, ApiError, ask, useCan } from '@/api';
import { useDraft } from '@/data/drafts';
import { type Prism, prismQuery, usePrismOfPage, versionsQuery } from '@/data/prisms';
import { changes, lensChanges } from '@/definitions/diff';
import { carried, derived, plainColumn } from '@/definitions/lens';
import { definitionOf, type Draft, draftOf, plain } from '@/definitions/model';
import { localProblems } from '@/definitions/problems';
import { Button, count, Dialog, ErrorNote, Note, Select, Skeleton, Split, toast } from '@/design';
import { useActions } from '@/shell/actions';
import { Changes } from './Changes';
import { EditingProvider } from './Control';
import { Editor } from './Editor';
import { Foot } from './Foot';
import { LiveAnswers } from './LiveAnswers';
import { TryDraft } from './TryDraft';
import { nothing, type Typed } from './TryForm';
import { useDryRun } from './useProblems';

const route = getRouteApi('/frame/prisms/$prism/edit');

/** What is kept of an edit: the version that it began from, and what was made of it. */
interface Kept {
  base: number;
  draft: Draft;
  lens: 'carry' | 'derive';
}

export function Edit(): ReactNode {
  const { prism } = usePrismOfPage();
  const { from } = route.useSearch();
  const other = useQuery({ ...versionsQuery(prism.slug), enabled: from !== undefined });
  if (from !== undefined && !other.data) {
    return other.error ? <ErrorNote error={other.error} onRetry={() => void other.refetch()} />
      : <Skeleton shape="form" lines={5} />;
  }
  return (
    <EditPrism key={`${prism.id} ${from}`} prism={prism} start={other.data?.find((v) => v.version === from) ?? prism.version} />
  );
}

function EditPrism({ prism, start }: { prism: Prism; start: Prism['version'] }) {
  const { try: trying, review, from } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const canEdit = useCan('edit');
  const [kept, setKept] = useDraft<Kept>(`edit.${prism.id}${from === undefined ? '' : `.from.${from}`}`);
  const [fresh, setFresh] = useState(() => ({ of: start.version, draft: draftOf(start) }));
  if (fresh.of !== start.version) setFresh({ of: start.version, draft: draftOf(start) });
  const [typed = nothing, setTyped] = useDraft<Typed>(`try.${prism.id}`);
  const [attempted, setAttempted] = useState(false);
  const now: Kept = kept ?? { base: prism.latest_version, draft: fresh.draft, lens: 'carry' };
  const { draft, base } = now;
  const change = (part: Partial<Kept>) => setKept({ ...now, ...part });
  const latest = plain(prism.version);
  const definition = definitionOf(draft);
  const found = changes(latest, plain(definition));
  const lens = now.lens === 'derive' ? derived(definition.questions) : carried(prism.lens.columns, prism.version, definition);
  const lensFound = lensChanges(prism.lens.columns.map(plainColumn), lens);
  const body = { ...definition, lens: { columns: lens } };
  const path = { prism: prism.slug };
  const disabled = !canEdit || prism.archived_at !== null;
  const { problems, other, checking } = useDryRun(['prism', prism.slug], body, localProblems(draft, false),
    (signal) => ask(api.POST('/v1/prisms/{prism}/versions', { params: { path }, body: { ...body, dry_run: true }, signal })),
    !disabled && found.length > 0);
  const overtaken = base < prism.latest_version;
  const old = useQuery({ ...versionsQuery(prism.slug), enabled: overtaken });
  const began = old.data?.find((v) => v.version === base);
  const search = (part: { try?: boolean; review?: boolean }) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true, resetScroll: false });

  const save = useMutation({
    mutationFn: () => ask(api.POST('/v1/prisms/{prism}/versions', { params: { path }, body: { ...body, if_latest: base } })),
    onSuccess: async (version) => {
      setKept(undefined);
      void client.invalidateQueries({ queryKey: ['prisms'] });
      await client.invalidateQueries({ queryKey: ['prism', prism.slug] });
      toast(`Version ${version.version} saved. It answers from now on.`);
      void navigate({ search: {}, replace: true });
    },
    onError: (error) => {
      // Somebody was faster: the latest version is loaded, and what was typed stays.
      if (!(error instanceof ApiError) || error.status !== 409) return;
      search({ review: undefined });
      void client.invalidateQueries(prismQuery(prism.slug));
    },
  });
  const toReview = () => {
    setAttempted(true);
    save.reset();
    if (problems.size === 0 && found.length > 0) search({ review: true });
  };
  useActions([
    ...(!disabled
      ? [{ id: 'review', group: prism.slug, label: 'Review and save version', words: 'save edit', run: toReview }] : []),
    ...(canEdit ? [{
      id: 'try draft', group: prism.slug, label: 'Try unsaved changes', words: 'ask model', run: () => search({ try: true }),
    }] : []),
  ]);
  const next = prism.latest_version + 1;
  const broken = problems.size > 0 || other !== undefined;
  return (
    <EditingProvider value={{ problems, all: attempted, disabled }}>
      <div className="stack">
        {!canEdit && <Note>Your role may not change prisms. Owners and editors may.</Note>}
        {overtaken && (
          <Note tone="warn"
            action={<Button small onClick={() => change({ base: prism.latest_version })}>Keep my changes</Button>}>
            <strong>Version {prism.latest_version} was saved while you edited version {base}.</strong> Your text is still here.
            What the other version changed:
            {began ? (
              <Changes changes={changes(plain(began), latest)} none="Only what calls show of its answers (the Lens)." />
            ) : <Skeleton lines={2} />}
            Keep your changes to save them over it, after you have seen the difference; or discard them below.
          </Note>
        )}
        <Split>
          <div className="stack">
            <LiveAnswers typed={typed} definition={definition} columns={lens}
              active={!disabled && (Boolean(trying) || found.length > 0)} sound={!broken}>
              <Editor draft={draft} onChange={(next) => change({ draft: next })} prism={prism.slug} />
            </LiveAnswers>
            {!disabled && (
              <Foot problems={found.length ? problems : new Map()} draft={draft} checking={checking} other={other}
                words={found.length
                  ? `${count(found.length, 'change')} to version ${prism.latest_version}, kept in this tab` : 'No changes'}>
                {kept && (
                  <Button onClick={() => {
                    const undo = kept;
                    setKept(undefined);
                    setAttempted(false);
                    toast('Changes discarded.', () => setKept(undo));
                  }}>
                    Discard
                  </Button>
                )}
                <Button icon="play" onClick={() => search({ try: !trying || undefined })} aria-pressed={trying ?? false}>
                  Try
                </Button>
                <Button variant="primary" disabled={found.length === 0 || overtaken} onClick={toReview}>Review and save</Button>
              </Foot>
            )}
          </div>
          {trying && canEdit && (
            <TryDraft draft={draft} typed={typed} onType={setTyped} lens={lens} broken={broken}
              onClose={() => search({ try: undefined })} />
          )}
        </Split>
        <Dialog open={Boolean(review && found.length > 0 && !disabled && !overtaken)}
          onClose={() => search({ review: undefined })} wide title={`Save version ${next}?`}
          onSubmit={() => { if (!broken && !save.isPending) save.mutate(); }}
          actions={<><Button onClick={() => search({ review: undefined })}>Go on editing</Button>
            <Button type="submit" variant="primary" busy={save.isPending} disabled={broken}>Save version {next}</Button></>}>
          <div className="stack">
            <p>Version {next} answers from then on. Older results stay as they are.</p>
            <Changes changes={found} none="No changes." />
            <Select label="Lens: what calls and downloads show" value={now.lens} options={[
              ['carry', 'Keep its columns, and add those of new questions'],
              ['derive', 'Reset columns to those of the questions'],
            ]}
              onChange={(event) => change({ lens: event.target.value as Kept['lens'] })} />
            <Changes changes={lensFound} none="The Lens stays as it is." />
            {broken && (
              <Note tone="bad">
                {problems.size ? `${count(problems.size, 'problem')}: go on editing to mend it.` : other?.message}
              </Note>
            )}
            <ErrorNote error={save.error} title="The version was not saved." />
          </div>
        </Dialog>
      </div>
    </EditingProvider>
  );
}
