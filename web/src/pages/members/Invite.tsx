import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ApiError, type Role, useSession } from '@/api';
import { Button, Code, Copy, Dialog, ErrorNote, Input, Note, Select, Time, toast } from '@/design';
import { roles } from '../roles';
import { addMember, type InvitedMember } from './api';

/** Asks for the name, the address and the role of a new member. */
export function Invite({ onClose, onInvited }: { onClose: () => void; onInvited: (member: InvitedMember) => void }) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('reader');
  // The answer has the link, so it goes to the dialog that shows it and into no cache.
  const { submit, busy, problem, note } = useAdding(async () =>
    onInvited(await addMember({ name: name.trim(), role, email: email.trim() || null })));
  return (
    <Form title="Invite member" verb="Invite" {...{ onClose, submit, busy, note }} typed={name + email !== ''}>
      <Input label="Name" value={name} maxLength={200} error={problem('name')}
        onChange={(event) => setName(event.target.value)} />
      <Input label="Email (optional)" type="email" value={email} error={problem('email')}
        hint="Prism sends no mail: you get a link to pass on." onChange={(event) => setEmail(event.target.value)} />
      <RoleSelect role={role} setRole={setRole} />
    </Form>
  );
}

/** Asks for a rule: whoever signs in with a claim becomes a member. */
export function AddRule({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [claim, setClaim] = useState('groups');
  const [value, setValue] = useState('');
  const [role, setRole] = useState<Role>('reader');
  const address = `${location.origin}/console/sign-in?account=${encodeURIComponent(useSession().account?.name ?? '')}`;
  const { submit, busy, problem, note } = useAdding(async () => {
    await addMember({ name: name.trim(), role, claim: { name: claim.trim(), value: value.trim() } });
    toast(`Added the rule ${name.trim()}.`);
    onClose();
  });
  return (
    <Form title="Add rule" verb="Add rule" {...{ onClose, submit, busy, note }} typed={name + value !== ''}>
      <p className="soft">
        Whoever has this claim becomes a member with the role by signing in at the address below, which says what you see of them.
        If the operator has granted the claim to this account, signing in anywhere is enough.
      </p>
      <Code text={address} label="Copy address" wrap />
      <Input label="Name" value={name} maxLength={200} error={problem('name')}
        onChange={(event) => setName(event.target.value)} />
      <Input label="Claim" value={claim} maxLength={200} error={problem('claim.name')}
        hint={<>Such as <code>groups</code> or <code>email</code>.</>} onChange={(event) => setClaim(event.target.value)} />
      <Input label="Value" value={value} maxLength={200} error={problem('claim.value')}
        hint="What the claim is, or has among its values." onChange={(event) => setValue(event.target.value)} />
      <RoleSelect role={role} setRole={setRole} />
    </Form>
  );
}

export function RoleSelect({ role, setRole, disabled }: { role: Role; setRole: (role: Role) => void; disabled?: boolean }) {
  return (
    <Select label="Role" value={role} disabled={disabled} hint={roles.find(([value]) => value === role)?.[2]}
      options={roles.map(([value, label]) => [value, label] as const)}
      onChange={(event) => setRole(event.target.value as Role)} />
  );
}

/** Runs a call that adds a member; problems of fields stand at them, other errors in a note. */
function useAdding(add: () => Promise<void>) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const problems = error instanceof ApiError ? error.problems : [];
  return {
    busy,
    problem: (path: string) => problems.find((p) => p.path === path)?.message,
    note: problems.length === 0 && <ErrorNote error={error} />,
    submit: async () => {
      setBusy(true);
      setError(undefined);
      try {
        await add();
        await client.invalidateQueries({ queryKey: ['members'] });
      } catch (cause) {
        setError(cause);
        setBusy(false);
      }
    },
  };
}

interface FormProps {
  title: string;
  verb: string;
  onClose: () => void;
  submit: () => Promise<void>;
  busy: boolean;
  note: ReactNode;
  typed: boolean;
  children: ReactNode;
}

function Form({ title, verb, onClose, submit, busy, note, typed, children }: FormProps) {
  return (
    <Dialog open onClose={onClose} firm={typed} title={title} onSubmit={() => void (busy || submit())} actions={
      <>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={busy}>{verb}</Button>
      </>
    }>
      <div className="stack">{note}{children}</div>
    </Dialog>
  );
}

/** Shows the sign-in link of a member, this once. It leaves the document with the dialog. */
export function Invited({ member, link, onClose }: { member: InvitedMember; link: string; onClose: () => void }) {
  const address = new URL(link, location.origin).href;
  return (
    <Dialog open firm onClose={onClose} title={`Link for ${member.name}`} actions={
      <>
        <Copy text={address} label="Copy link" small={false} variant="primary">Copy link</Copy>
        <Button onClick={onClose}>Done</Button>
      </>
    }>
      <div className="stack">
        <Note tone="warn">
          This link is shown only now. Whoever opens it first signs in as {member.name}, so send it in private.
        </Note>
        <Code text={address} label="Copy link" wrap />
        <p className="soft">It works once, and ends <Time at={member.expires_at} />.</p>
      </div>
    </Dialog>
  );
}
