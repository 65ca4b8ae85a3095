import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { session, useCan, useSession } from '@/api';
import { shellWord } from '@/commands/commands';
import { Button, type Column, Empty, ErrorNote, Note, Page, Skeleton, Split, Table, Time } from '@/design';
import { useActions } from '@/shell/actions';
import { neighbours } from '../neighbours';
import { type InvitedMember, type Member, useMembers } from './api';
import { AddRule, Invite, Invited } from './Invite';
import { MemberPanel } from './MemberPanel';
import { MemberStatus } from './MemberStatus';

const route = getRouteApi('/frame/members');

const columns: Column<Member>[] = [
  { id: 'name', head: 'Name', cell: (member) => <Name member={member} />, sort: (member) => member.name },
  {
    id: 'email', head: 'Email', sort: (member) => member.email, show: 'wide',
    cell: ({ email, claim }) => email ?? (claim && <span className="soft">{claim.name} is {String(claim.value)}</span>),
  },
  { id: 'role', head: 'Role', cell: (member) => member.role, sort: (member) => member.role, width: '6rem' },
  { id: 'status', head: 'Status', cell: (member) => <MemberStatus member={member} />, width: '7rem' },
  {
    id: 'seen', head: 'Last seen', cell: (member) => <Time at={member.last_seen_at} none={member.claim ? '' : 'never'} />,
    sort: (member) => member.last_seen_at, width: '9rem', show: 'wide',
  },
];

function Name({ member }: { member: Member }) {
  const { account } = useSession();
  return <>{member.name}{member.id === account?.member.id && <span className="soft"> you</span>}</>;
}

/** The people of the account, and the rules that let people in. */
export function Members() {
  const { sort, open } = route.useSearch();
  const navigate = route.useNavigate();
  const owns = useCan('own');
  const { account } = useSession();
  const { data, error, refetch } = useMembers();
  const config = useQuery({ queryKey: ['config'], staleTime: Infinity, queryFn: () => session.config() });
  const [layer, setLayer] = useState<'invite' | 'rule'>();
  const [invited, setInvited] = useState<InvitedMember>();
  useActions(owns
    ? [{ id: 'invite member', group: 'Members', label: 'Invite member', keys: 'n', run: () => setLayer('invite') }] : []);
  if (!owns) return <Page title="Members"><Note>Owners invite and change members.</Note></Page>;

  const show = (id: string | undefined) =>
    void navigate({ search: (old) => ({ ...old, open: id }), replace: open !== undefined });
  const current = data?.find((member) => member.id === open);
  const { previous, next } = neighbours(data ?? [], columns, sort, (member) => member.id, open);
  const invite = <Button variant="primary" icon="plus" onClick={() => setLayer('invite')}>Invite member</Button>;
  return (
    <Page title="Members" lead="People who sign in to the console." actions={
      <>
        {config.data?.openid && <Button onClick={() => setLayer('rule')}>Add rule</Button>}
        {invite}
      </>
    }>
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {data ? (
        <Split>
          <Table label="Members" columns={columns} rows={data} rowKey={(member) => member.id} sort={sort} open={open}
            onOpen={(member) => show(member.id)}
            onSort={(to) => void navigate({ search: (old) => ({ ...old, sort: to }), replace: true })}
            empty={
              <Empty title="No members yet" action={invite}
                command={`prism console link --account ${shellWord(account?.name ?? 'demo')}`}>
                An invitation is a link that works once. Its role says what the member may do.
              </Empty>
            } />
          {current && (
            <MemberPanel key={current.id} member={current} onInvited={setInvited} onClose={() => show(undefined)}
              onPrevious={previous ? () => show(previous) : undefined} onNext={next ? () => show(next) : undefined} />
          )}
        </Split>
      ) : !error && <Skeleton shape="table" lines={4} />}
      {layer === 'invite' && (
        <Invite onClose={() => setLayer(undefined)} onInvited={(member) => { setLayer(undefined); setInvited(member); }} />
      )}
      {layer === 'rule' && <AddRule onClose={() => setLayer(undefined)} />}
      {invited?.link && <Invited member={invited} link={invited.link} onClose={() => setInvited(undefined)} />}
    </Page>
  );
}
