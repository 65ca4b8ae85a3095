import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ApiError, ask, type Role, type Schemas } from '@/api';
import { Button, Code, Copy, Dialog, ErrorNote, Input, Note, Select } from '@/design';
import { roles } from '../roles';

const lives = [['', 'Never'], ['7', 'In 7 days'], ['30', 'In 30 days'], ['90', 'In 90 days'], ['365', 'In a year']] as const;

/** What a new key expires at, days from now; null: never. */
export function expiry(days: string, now: number): string | null {
  return days ? new Date(now + Number(days) * 86_400_000).toISOString() : null;
}

/** Asks for the name, role and end of a new key. */
export function CreateKey({ onClose, onMade }: { onClose: () => void; onMade: (key: Schemas['CreatedApiKey']) => void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('caller');
  const [days, setDays] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  // The answer goes to the dialog that shows it and into no cache.
  const submit = async () => {
    if (!name.trim()) return setError(new ApiError(400, 'validation_failed', 'Invalid request: name: Say what the key is for.'));
    setBusy(true);
    setError(undefined);
    try {
      const made = await ask(api.POST(
        '/v1/keys', { body: { name: name.trim(), role: role as Schemas['Role'], expires_at: expiry(days, Date.now()) } },
      ));
      await client.invalidateQueries({ queryKey: ['keys'] });
      onMade(made);
    } catch (cause) {
      setError(cause);
      setBusy(false);
    }
  };
  const problem = error instanceof ApiError ? error.problem('name') : undefined;
  return (
    <Dialog open onClose={onClose} firm={name !== ''} title="Create key" onSubmit={() => void submit()} actions={
      <>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={busy}>Create key</Button>
      </>
    }>
      <div className="stack">
        {!problem && <ErrorNote error={error} />}
        <Input label="Name" value={name} maxLength={200} error={problem}
          hint="What it is for, such as the program and where it runs." onChange={(event) => setName(event.target.value)} />
        <Select label="Role" value={role} hint={roles.find(([value]) => value === role)?.[2]}
          onChange={(event) => setRole(event.target.value as Role)}
          options={roles.map(([value, label]) => [value, label] as const)} />
        <Select label="Expires" value={days} options={lives} onChange={(event) => setDays(event.target.value)} />
      </div>
    </Dialog>
  );
}

/** Shows the text of a new key, this once. It leaves the document with the dialog. */
export function KeyMade({ made, onClose }: { made: Schemas['CreatedApiKey']; onClose: () => void }) {
  const command = `curl --fail-with-body -sS ${location.origin}/v1/prisms -H 'Authorization: Bearer ${made.key}'`;
  return (
    <Dialog open firm onClose={onClose} title={`Key ${made.name}`} actions={
      <>
        <Copy text={command} label="Copy a call as curl" small={false} variant="secondary">Copy as curl</Copy>
        <Button onClick={onClose}>Done</Button>
        <Copy text={made.key} label="Copy key" small={false} variant="primary">Copy key</Copy>
      </>
    }>
      <div className="stack">
        <Note tone="warn">
          This key is shown only now. Copy it to where your program reads its secrets: Prism keeps its hash alone.
        </Note>
        <Code text={made.key} label="Copy key" wrap />
      </div>
    </Dialog>
  );
}
