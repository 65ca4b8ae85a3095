import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ask, type Schemas, session, useSession } from '@/api';
import { Button, Confirm, Copy, ErrorNote, Facts, Page, Section, Select, shown, Skeleton, Status, Table } from '@/design';
import { leave, signOut } from '@/shell/Frame';
import { setTheme, type Theme, useTheme } from '@/shell/theme';
import { roles } from '../roles';
import { sizeText } from '../results/download';
import './account.css';

const themes = [['system', 'As the system'], ['light', 'Light'], ['dark', 'Dark']] as const;

/** What an account has, and what its operator limits. */
function limits({ limits, ...has }: Schemas['Account']): [string, string][] {
  const most = (limit: number | null, unit: string) => (limit === null ? 'No limit' : `${shown(limit)} ${unit}`);
  return [
    ['Prisms', shown(has.prisms)],
    ['API keys', shown(has.keys)],
    ['Members', shown(has.members)],
    ['Stored', limits.stored_bytes === null
      ? sizeText(has.stored_bytes) : `${sizeText(has.stored_bytes)} of ${sizeText(limits.stored_bytes)}`],
    ['Requests', most(limits.requests_per_second, 'a second')],
    ['Requests at once', most(limits.concurrency, 'in flight')],
    ['Results', most(limits.results_per_day, 'a day')],
  ];
}

/** Who is signed in, where, and how it looks. */
export function Account() {
  const { account, accounts } = useSession();
  const client = useQueryClient();
  const theme = useTheme();
  const [busy, setBusy] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const [error, setError] = useState<unknown>();
  const config = useQuery({ queryKey: ['config'], staleTime: Infinity, queryFn: () => session.config() });
  const has = useQuery({ queryKey: ['account'], queryFn: () => ask(api.GET('/v1/account')), enabled: Boolean(account) });
  if (!account) return null;
  const end = async (by: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await by();
    } catch (cause) {
      setError(cause);
      setBusy(false);
    }
  };
  return (
    <Page title="Your account" actions={
      <>
        <Button onClick={() => setLeaving(true)}>Leave account</Button>
        <Button busy={busy && !leaving} onClick={() => void end(() => signOut(client))}>Sign out</Button>
      </>
    }>
      {!leaving && <ErrorNote error={error} />}
      <Confirm open={leaving} onClose={() => { setLeaving(false); setError(undefined); }}
        onConfirm={() => void end(() => leave(account, client))} busy={busy} title={`Leave ${account.name}?`} verb="Leave account"
        error={<ErrorNote error={error} />}>
        <p>
          You are no member of the account any more, on all of your devices. API keys that you created stay. Only an invitation of
          an owner makes you a member again.
        </p>
      </Confirm>
      <Section title="You">
        <Facts items={[
          ['Name', account.member.name],
          [
            'Role',
            <>{account.member.role} <span className="soft">{roles.find(([role]) => role === account.member.role)?.[2]}</span></>,
          ],
          ['Account', account.name],
          [
            'Account id',
            <span className="row"><code>{account.id}</code><Copy text={account.id} label="Copy id of the account" /></span>,
          ],
          ...(config.data ? [['Prism version', config.data.version] as [React.ReactNode, React.ReactNode]] : []),
        ]} />
      </Section>
      <Section title="Limits">
        <ErrorNote error={has.error} title="The account could not be loaded." onRetry={() => void has.refetch()} />
        {has.data ? <Facts items={limits(has.data)} /> : !has.error && <Skeleton lines={4} />}
      </Section>
      {accounts.length > 1 && (
        <Section title="Accounts">
          <Table label="Accounts" rows={accounts} rowKey={(a) => a.id} open={account.id} columns={[
            { id: 'name', head: 'Name', cell: (a) => a.name },
            { id: 'role', head: 'Role', cell: (a) => a.member.role, width: '8rem' },
            {
              id: 'switch', head: <span className="unseen">Switch</span>, align: 'end', width: '8rem',
              cell: (a) => a.id === account.id ? <Status status="active" /> : (
                <Button small onClick={() => { session.switchTo(a); client.clear(); }}>
                  Switch<span className="unseen"> to {a.name}</span>
                </Button>
              ),
            },
          ]} />
        </Section>
      )}
      <Section title="Appearance">
        <Select className="account-theme" label="Appearance" hideLabel value={theme} options={themes}
          onChange={(event) => setTheme(event.target.value as Theme)} />
      </Section>
    </Page>
  );
}
