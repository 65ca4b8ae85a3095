import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Role } from '@/api';
import { Button, Confirm, Copy, ErrorNote, Facts, Panel, Time, toast } from '@/design';
import { changeMember, type InvitedMember, linkMember, type Member, removeMember } from './api';
import { RoleSelect } from './Invite';
import { MemberStatus } from './MemberStatus';

interface Props {
  member: Member;
  onInvited: (member: InvitedMember) => void;
  onClose: () => void;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
}

/** One member or rule: its role, a new link, and its removal. */
export function MemberPanel({ member, onInvited, ...around }: Props) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const what = member.claim ? 'rule' : 'member';
  const run = async (change: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await change();
      await client.invalidateQueries({ queryKey: ['members'] });
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  const setRole = (role: Role) => run(async () => {
    const before = member.role;
    await changeMember(member.id, { role });
    toast(`${member.name} is ${role} now.`, () => void run(async () => void (await changeMember(member.id, { role: before }))));
  });
  const remove = () => run(async () => {
    await removeMember(member.id);
    setAsking(false);
    around.onClose();
    toast(`Removed ${member.name}.`);
  });
  return (
    <Panel title={member.name} {...around}>
      {!asking && <ErrorNote error={error} />}
      <Facts items={[
        ['Status', <MemberStatus member={member} />],
        ...(member.email ? [['Email', member.email] as [string, React.ReactNode]] : []),
        ...(member.claim ? [[
          'Claim', <><code>{member.claim.name}</code> is or has <code>{member.claim.value}</code></>,
        ] as [string, React.ReactNode]] : [
          ['Last sign-in', member.signed_in_by === null ? <span className="soft">never</span>
            : member.signed_in_by === 'link' ? 'by link' : 'by single sign-on'] as [string, React.ReactNode],
          ['Last seen', <Time at={member.last_seen_at} none="never" />] as [string, React.ReactNode],
        ]),
        ['Added', <Time at={member.created_at} />],
        ['Id', <span className="row"><code>{member.id}</code><Copy text={member.id} label="Copy id" /></span>],
      ]} />
      <RoleSelect role={member.role} disabled={busy} setRole={(role) => void setRole(role)} />
      <div className="row">
        {!member.claim && (
          <Button icon="link" busy={busy} onClick={() => void run(async () => onInvited(await linkMember(member.id)))}>
            New sign-in link
          </Button>
        )}
        <Button variant="danger" icon="trash" onClick={() => setAsking(true)}>Remove {what}</Button>
      </div>
      <Confirm open={asking} onClose={() => setAsking(false)} onConfirm={() => void remove()} busy={busy}
        title={`Remove ${member.name}?`} verb={`Remove ${what}`} error={<ErrorNote error={error} />}>
        <p>{member.claim
          ? 'Nobody becomes a member by this rule any more. Members whom it made stay.'
          : 'The sessions of this member in this account end at once. Keys that the member created stay.'}</p>
      </Confirm>
    </Panel>
  );
}
