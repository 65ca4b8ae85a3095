import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '@/api';
import { type Drift, setDrift } from '@/data/quality';
import { Button, Code, Dialog, ErrorNote, Input, Note, Select, toast } from '@/design';
import { lastWeek, periodOf, periodProblems, typedHour, type TypedPeriod } from './period';

interface Props {
  prism: string;
  version: number;
  reference: Drift['reference'];
  onClose: () => void;
}

/** Chooses what the answers of a version are compared with: its first 2,000 results, or a period of hours of UTC. */
export function Reference({ prism, version, reference, onClose }: Props) {
  const client = useQueryClient();
  const set = reference?.kind === 'set' ? reference : undefined;
  const [kind, setKind] = useState<'first' | 'set'>(reference?.kind ?? 'first');
  const [typed, setTyped] = useState<TypedPeriod>(() => (
    set?.from && set.to ? { from: typedHour(Date.parse(set.from)), to: typedHour(Date.parse(set.to)) } : lastWeek(Date.now())
  ));
  const [tried, setTried] = useState(false);
  const found = kind === 'set' ? periodProblems(typed, Date.now(), set) : {};
  const save = useMutation({
    mutationFn: () => setDrift(prism, { watched: true, version, reference: kind === 'set' ? periodOf(typed) : null }),
    onSuccess: async (now) => {
      client.setQueryData(['drift', prism, version], now);
      onClose();
      toast(kind === 'set'
        ? 'The reference is the period from now on.' : 'The reference is the first 2,000 results from now on.');
    },
  });
  const told = (half: keyof TypedPeriod) =>
    (tried && found[half]) || (save.error instanceof ApiError ? save.error.problem(`reference.${half}`) : undefined);
  const wrong = Object.keys(found).length > 0;
  const send = () => {
    setTried(true);
    if (!wrong && !save.isPending) save.mutate();
  };
  const change = (part: Partial<TypedPeriod>) => { save.reset(); setTyped({ ...typed, ...part }); };
  const words = kind === 'set' ? ` \\\n  --from ${typed.from}:00Z --to ${typed.to}:00Z` : '';
  return (
    <Dialog open firm onClose={onClose} title={`Reference of version ${version}`} onSubmit={send} actions={
      <>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={save.isPending}>Set reference</Button>
      </>
    }>
      <div className="stack">
        <Select label="Compare with" value={kind}
          onChange={(event) => { save.reset(); setKind(event.target.value as typeof kind); }}
          options={[['first', 'Its first 2,000 results'], ['set', 'The results of a period']]}
          hint="The answers of the last hour and day are compared with those of the reference." />
        {kind === 'set' && (
          <div className="stack">
            {([['from', 'From (UTC)'], ['to', 'To (UTC)']] as const).map(([half, label]) => (
              <Input key={half} label={label} type="datetime-local" step={3600} required value={typed[half]} error={told(half)}
                onChange={(event) => change({ [half]: event.target.value })} />
            ))}
          </div>
        )}
        {kind === 'first' && set && (
          <Note>The period that is set now is forgotten. One that began more than 90 days ago cannot be set again.</Note>
        )}
        <ErrorNote error={told('from') || told('to') ? undefined : save.error} title="The reference was not set." />
        {!wrong && <Code label="Copy command" text={`prismctl quality watch ${prism} --version ${version}${words}`} />}
      </div>
    </Dialog>
  );
}
