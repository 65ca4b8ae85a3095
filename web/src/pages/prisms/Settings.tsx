import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api, ApiError, ask, useCan } from '@/api';
import { type Prism, usePrismOfPage, versionsQuery } from '@/data/prisms';
import { changes } from '@/definitions/diff';
import { plainColumn } from '@/definitions/lens';
import { plain } from '@/definitions/model';
import { toYaml } from '@/definitions/paste';
import {
  Button, ButtonLink, Code, type Column, Confirm, Copy, ErrorNote, Facts, Input, Note, Panel, Section, Skeleton, Split, Table,
  Time, toast,
} from '@/design';
import { useActions } from '@/shell/actions';
import { Changes } from './Changes';

const route = getRouteApi('/frame/prisms/$prism/settings');

export function Settings(): ReactNode {
  const { prism } = usePrismOfPage();
  const canEdit = useCan('edit');
  return (
    <>
      {!canEdit && <Note>Your role may not change prisms. Owners and editors may.</Note>}
      <Facts items={[
        ['Id', <span key="" className="row"><code>{prism.id}</code><Copy text={prism.id} label="Copy id" /></span>],
        ['Name in calls (slug)', <span key="" className="row">
          <code>{prism.slug}</code><Copy text={prism.slug} label="Copy slug" />
        </span>],
        ['Created', <Time key="" at={prism.created_at} />],
        ['Latest version', <span key="">{prism.latest_version}, <Time at={prism.version.created_at} /></span>],
      ]} />
      <Name key={`name ${prism.name}`} prism={prism} disabled={!canEdit || prism.archived_at !== null} />
      <Retention key={`days ${prism.retention_days}`} prism={prism} disabled={!canEdit} />
      <Search prism={prism} disabled={!canEdit} />
      <Archive prism={prism} disabled={!canEdit} />
      <Versions prism={prism} />
      <Definition prism={prism} />
    </>
  );
}

/** Reads a changed prism again, and the lists that it is in. */
function useChanged(prism: Prism) {
  const client = useQueryClient();
  return async () => {
    void client.invalidateQueries({ queryKey: ['prisms'] });
    await client.invalidateQueries({ queryKey: ['prism', prism.slug] });
  };
}

function Name({ prism, disabled }: { prism: Prism; disabled: boolean }) {
  const [name, setName] = useState(prism.name ?? '');
  const changed = useChanged(prism);
  const save = useMutation({
    mutationFn: () =>
      ask(api.PUT('/v1/prisms/{prism}/name', { params: { path: { prism: prism.slug } }, body: { name: name || null } })),
    onSuccess: async () => { await changed(); toast('Name saved.'); },
  });
  const problem = save.error instanceof ApiError ? save.error.problem('name') : undefined;
  return (
    <Section title="Name">
      <form className="inline-form" onSubmit={(event) => { event.preventDefault(); save.mutate(); }}>
        <Input label="Name" hideLabel value={name} maxLength={200} disabled={disabled} error={problem}
          hint="For people. The name in calls, the slug, stays." onChange={(event) => setName(event.target.value)} />
        <Button type="submit" busy={save.isPending} disabled={disabled || name === (prism.name ?? '')}>Save name</Button>
      </form>
      <ErrorNote error={problem ? undefined : save.error} title="The name was not saved." />
    </Section>
  );
}

function Retention({ prism, disabled }: { prism: Prism; disabled: boolean }) {
  const [days, setDays] = useState(prism.retention_days === null ? '' : String(prism.retention_days));
  const [asking, setAsking] = useState(false);
  const changed = useChanged(prism);
  const value = days.trim() === '' ? null : Number(days);
  const wrong = value !== null && !(Number.isInteger(value) && value >= 1 && value <= 3650);
  const save = useMutation({
    mutationFn: () =>
      ask(api.PUT('/v1/prisms/{prism}/retention', { params: { path: { prism: prism.slug } }, body: { days: value } })),
    onSuccess: async () => {
      setAsking(false);
      await changed();
      toast(value === null ? 'Results are kept.' : 'Retention saved.');
    },
  });
  // Fewer days delete results that are kept now, so they are asked about.
  const shorter = value !== null && (prism.retention_days === null || value < prism.retention_days);
  return (
    <Section title="Retention">
      <form className="inline-form"
        onSubmit={(event) => { event.preventDefault(); if (wrong) return; if (shorter) setAsking(true); else save.mutate(); }}>
        <Input label="Days" inputMode="numeric" value={days} disabled={disabled} placeholder="Kept"
          error={wrong ? 'A whole number from 1 to 3,650, or nothing to keep results.' : undefined}
          hint="Older results are deleted for good, within an hour. Empty: results are kept."
          onChange={(event) => setDays(event.target.value)} />
        <Button type="submit" busy={save.isPending} disabled={disabled || wrong || value === prism.retention_days}>
          Save retention
        </Button>
      </form>
      <ErrorNote error={asking ? undefined : save.error} title="The retention was not saved." />
      <Confirm open={asking} onClose={() => setAsking(false)} onConfirm={() => save.mutate()}
        title={`Delete results of ${prism.slug} after ${days} days?`} verb="Delete older results"
        busy={save.isPending} error={<ErrorNote error={save.error} />}>
        <p>
          Results that are older than {days} days now are deleted within an hour, and later ones as they reach that age. This
          cannot be undone.
        </p>
      </Confirm>
    </Section>
  );
}

function Search({ prism, disabled }: { prism: Prism; disabled: boolean }) {
  const changed = useChanged(prism);
  const searchable = prism.searchable ?? true;
  const save = useMutation({
    mutationFn: (to: boolean) =>
      ask(api.PUT('/v1/prisms/{prism}/searchable', { params: { path: { prism: prism.slug } }, body: { searchable: to } })),
    onSuccess: async (_, to) => {
      await changed();
      toast(to ? 'Results are found by searches.' : 'Results are left out of searches.', () => save.mutate(!to));
    },
  });
  return (
    <Section title="Searches">
      <p className="soft">{searchable ? 'Searches find the results, by an index of their texts and answers.'
        : 'Searches leave the results out, and the index has nothing of them.'}</p>
      <div className="row">
        <Button busy={save.isPending} disabled={disabled} onClick={() => save.mutate(!searchable)}>
          {searchable ? 'Leave out of searches' : 'Make searchable'}
        </Button>
      </div>
      <ErrorNote error={save.error} title="It was not changed." />
    </Section>
  );
}

function Archive({ prism, disabled }: { prism: Prism; disabled: boolean }) {
  const changed = useChanged(prism);
  const archived = prism.archived_at !== null;
  const call = useMutation({
    mutationFn: (to: boolean) => ask(to
      ? api.POST('/v1/prisms/{prism}/archive', { params: { path: { prism: prism.slug } } })
      : api.POST('/v1/prisms/{prism}/unarchive', { params: { path: { prism: prism.slug } } })),
    onSuccess: async (_, to) => {
      await changed();
      toast(to ? `${prism.slug} archived.` : `${prism.slug} unarchived.`, to ? () => call.mutate(false) : undefined);
    },
  });
  const words = archived ? 'Unarchive prism' : 'Archive prism';
  useActions(disabled ? [] : [{ id: 'archive', group: prism.slug, label: words, run: () => call.mutate(!archived) }]);
  return (
    <Section title="Archive">
      <p className="soft">{archived ? 'It takes no calls. Unarchived, it answers again.'
        : 'An archived prism takes no calls and no changes. Its results stay readable, and it can be unarchived.'}</p>
      <div className="row">
        <Button icon="archive" busy={call.isPending} disabled={disabled} onClick={() => call.mutate(!archived)}>{words}</Button>
      </div>
      <ErrorNote error={call.error} title={archived ? 'It was not unarchived.' : 'It was not archived.'} />
    </Section>
  );
}

const columns: Column<Prism['version']>[] = [
  { id: 'version', head: 'Version', cell: (v) => v.version, width: '6rem' },
  { id: 'created', head: 'Saved', cell: (v) => <Time at={v.created_at} />, width: '9rem' },
  { id: 'questions', head: 'Questions', cell: (v) => v.questions.length, align: 'end', width: '7rem' },
  {
    id: 'model', head: 'Model', show: 'wide',
    cell: (v) => (
      <>
        {v.model ?? <span className="soft">the default</span>}
        {v.escalate && <span className="soft"> then {v.escalate.to}</span>}
      </>
    ),
  },
];

function Versions({ prism }: { prism: Prism }) {
  const { version } = route.useSearch();
  const navigate = route.useNavigate();
  const canEdit = useCan('edit');
  const { data, error, refetch } = useQuery(versionsQuery(prism.slug));
  const open = (to: number | undefined) =>
    void navigate({ search: (old) => ({ ...old, version: to }), replace: version !== undefined, resetScroll: false });
  const shown = data?.find((v) => v.version === version);
  const before = data?.find((v) => v.version === (version ?? 0) - 1);
  const step = (by: number) =>
    (data?.some((v) => v.version === (version ?? 0) + by) ? () => open((version ?? 0) + by) : undefined);
  return (
    <Section title="Versions">
      <ErrorNote error={error} title="The versions could not be loaded." onRetry={() => void refetch()} />
      {data ? (
        <Split>
          <Table label="Versions" columns={columns} rows={data} rowKey={(v) => String(v.version)}
            open={version === undefined ? undefined : String(version)} onOpen={(v) => open(v.version)} />
          {shown && (
            <Panel title={`Version ${shown.version}`} onClose={() => open(undefined)} onPrevious={step(1)} onNext={step(-1)}>
              <h3>{before ? `Differences to version ${before.version}` : 'The first version'}</h3>
              {before && (
                <Changes changes={changes(plain(before), plain(shown))}
                  none="Only what calls show of its answers (the Lens) changed." />
              )}
              <div className="row">
                <ButtonLink to="/prisms/$prism/try" params={{ prism: prism.slug }}
                  search={{ version: shown.version === prism.latest_version ? undefined : shown.version }}>
                  Try it
                </ButtonLink>
                {canEdit && shown.version !== prism.latest_version && prism.archived_at === null && (
                  <>
                    <ButtonLink to="/prisms/$prism/edit" params={{ prism: prism.slug }}
                      search={{ from: shown.version, review: true }}>
                      Restore
                    </ButtonLink>
                    <ButtonLink to="/prisms/$prism/edit" params={{ prism: prism.slug }} search={{ from: shown.version }}>
                      Begin a version from it
                    </ButtonLink>
                  </>
                )}
              </div>
              <Code label="Copy JSON" wrap text={JSON.stringify(plain(shown), null, 2)} />
            </Panel>
          )}
        </Split>
      ) : !error && <Skeleton shape="table" lines={3} />}
    </Section>
  );
}

function Definition({ prism }: { prism: Prism }) {
  const { as } = route.useSearch();
  const definition = {
    slug: prism.slug, ...(prism.name && { name: prism.name }), ...(prism.searchable === false && { searchable: false }),
    ...plain(prism.version),
    lens: { columns: prism.lens.columns.map(plainColumn) },
  };
  const yaml = useQuery({
    queryKey: ['yaml', JSON.stringify(definition)], queryFn: () => toYaml(definition), enabled: as !== 'json',
    staleTime: Infinity,
  });
  const text = as === 'json' ? JSON.stringify(definition, null, 2) : yaml.data;
  return (
    <Section title="Definition">
      <p className="soft">A file of this text is what <code>prismctl prisms apply</code> takes, and New prism reads it.</p>
      <nav className="choices" aria-label="Form of the definition">
        {([[undefined, 'YAML'], ['json', 'JSON']] as const).map(([value, label]) => (
          <route.Link key={label} to="." search={(old) => ({ ...old, as: value })} replace resetScroll={false}
            className={as === value ? 'chosen-one' : undefined}>
            {label}
            {as === value && <span className="unseen"> (shown)</span>}
          </route.Link>
        ))}
      </nav>
      {text ? <Code text={text} label="Copy definition" /> : <Skeleton lines={8} />}
    </Section>
  );
}
