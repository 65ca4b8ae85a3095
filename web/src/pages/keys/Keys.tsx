import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api, ask, type Schemas, useCan, useKeys, useSession } from '@/api';
import { shellWord } from '@/commands/commands';
import {
  Button, Checkbox, type Column, Confirm, Copy, Empty, ErrorNote, Facts, Note, Page, Panel, Skeleton, Split, Status, Table, Time,
  toast, Toolbar,
} from '@/design';
import { useActions } from '@/shell/actions';
import { CreateKey, KeyMade } from './CreateKey';
import { neighbours } from '../neighbours';

type Key = Schemas['ApiKey'];

const route = getRouteApi('/frame/keys');

/** `active`, or why a key is refused. */
export function stateOf(key: Key, now: number): 'active' | 'revoked' | 'expired' {
  if (key.revoked_at) return 'revoked';
  return key.expires_at && Date.parse(key.expires_at) <= now ? 'expired' : 'active';
}

/** Without revoked and expired keys each is active, which a narrow table need not say. */
const columnsOf = (all: boolean): Column<Key>[] => [
  { id: 'name', head: 'Name', cell: (key) => key.name, sort: (key) => key.name },
  { id: 'prefix', head: 'Begins with', cell: (key) => <code>{key.prefix}…</code>, show: 'wide', width: '10rem' },
  { id: 'role', head: 'Role', cell: (key) => key.role, sort: (key) => key.role, width: '6rem' },
  {
    id: 'status', head: 'Status', cell: (key) => <Status status={stateOf(key, Date.now())} />,
    sort: (key) => stateOf(key, Date.now()), width: '7rem', ...(!all && { show: 'wide' }),
  },
  {
    id: 'created', head: 'Created', cell: (key) => <Time at={key.created_at} />, sort: (key) => key.created_at, show: 'wide',
    width: '9rem',
  },
  {
    id: 'expires', head: 'Expires', cell: (key) => <Time at={key.expires_at} none="never" />, sort: (key) => key.expires_at,
    show: 'wide', width: '9rem',
  },
  {
    id: 'used', head: 'Last use', cell: (key) => <Time at={key.last_used_at} none="never" />, sort: (key) => key.last_used_at,
    width: '9rem',
  },
];

export function Keys() {
  const { sort, open, all } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useKeys();
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<Schemas['CreatedApiKey']>();
  useActions([{ id: 'create key', group: 'Keys', label: 'Create key', keys: 'n', run: () => setCreating(true) }]);

  const rows = data?.filter((key) => all || stateOf(key, Date.now()) === 'active') ?? [];
  const hidden = (data?.length ?? 0) - rows.length;
  const current = data?.find((key) => key.id === open);
  const show = (id: string | undefined) =>
    void navigate({ search: (old) => ({ ...old, open: id }), replace: open !== undefined });
  const columns = columnsOf(all ?? false);
  const { previous, next } = neighbours(rows, columns, sort, (key) => key.id, open);
  const create = <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>Create key</Button>;

  const { account } = useSession();
  if (!useCan('own')) return (
    <Page title="Keys"><Note>Owners manage keys. Ask one of them for a key, or for the role.</Note></Page>
  );
  return (
    <Page title="Keys" lead="Programs call the API with keys." actions={create}>
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {data && data.length > 0 && (
        <Toolbar label="Filters">
          <Checkbox label={`Show revoked and expired keys${!all && hidden ? ` (${hidden})` : ''}`} checked={all ?? false}
            onChange={(event) =>
              void navigate({ search: (old) => ({ ...old, all: event.target.checked || undefined }), replace: true })} />
        </Toolbar>
      )}
      {data ? (
        <Split>
          <Table label="Keys" columns={columns} rows={rows} rowKey={(key) => key.id} sort={sort} open={open}
            onOpen={(key) => show(key.id)}
            onSort={(to) => void navigate({ search: (old) => ({ ...old, sort: to }), replace: true })}
            empty={
              <Empty title="No keys yet" action={create}
                command={`prism key create --account ${shellWord(account?.name ?? 'demo')} --name production --role caller`}>
                A key lets a program call the API in the name of this account. Its role says what it may do.
              </Empty>
            } />
          {current && (
            <KeyPanel apiKey={current} onClose={() => show(undefined)} onPrevious={previous ? () => show(previous) : undefined}
              onNext={next ? () => show(next) : undefined} />
          )}
        </Split>
      ) : !error && <Skeleton shape="table" lines={6} />}
      {creating && <CreateKey onClose={() => setCreating(false)} onMade={(key) => { setCreating(false); setMade(key); }} />}
      {made && <KeyMade made={made} onClose={() => setMade(undefined)} />}
    </Page>
  );
}

interface KeyPanelProps {
  apiKey: Key;
  onClose: () => void;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
}

function KeyPanel({ apiKey, ...around }: KeyPanelProps) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const state = stateOf(apiKey, Date.now());
  const revoke = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await ask(api.POST('/v1/keys/{key_id}/revoke', { params: { path: { key_id: apiKey.id } } }));
      await client.invalidateQueries({ queryKey: ['keys'] });
      setAsking(false);
      toast(`Revoked ${apiKey.name}. Calls with it are refused from now on.`);
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Panel title={apiKey.name} {...around}>
      <Facts items={[
        ['Status', <Status status={state} />],
        ['Role', apiKey.role],
        ['Begins with', <code>{apiKey.prefix}…</code>],
        ['Id', <span className="row"><code>{apiKey.id}</code><Copy text={apiKey.id} label="Copy id" /></span>],
        ['Created', <Time at={apiKey.created_at} />],
        ['Expires', <Time at={apiKey.expires_at} none="never" />],
        ['Last use', <Time at={apiKey.last_used_at} none="never" />],
        ...(apiKey.revoked_at ? [['Revoked', <Time at={apiKey.revoked_at} />] as [string, React.ReactNode]] : []),
      ]} />
      <p className="row">
        <a href={`/console/results?key_id=${apiKey.id}`}>Results of this key</a>
        {' · '}<a href={`/console/usage?key=${apiKey.id}`}>Usage</a>
        {' · '}<a href={`/console/audit?actor=${apiKey.id}`}>Audit</a>
      </p>
      {state === 'active' && <div><Button variant="danger" icon="stop" onClick={() => setAsking(true)}>Revoke key</Button></div>}
      <Confirm open={asking} onClose={() => setAsking(false)} onConfirm={() => void revoke()} busy={busy}
        title={`Revoke key ${apiKey.name}?`} verb="Revoke key"
        error={<ErrorNote error={error} />}>
        <p>
          Each call with <code>{apiKey.prefix}…</code> is refused from then on. This cannot be undone: programs that use it need
          another key.
        </p>
      </Confirm>
    </Panel>
  );
}
