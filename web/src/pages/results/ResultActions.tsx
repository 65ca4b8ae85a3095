import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useCan } from '@/api';
import { callCommands, type Commands, readCommands, type Way, ways } from '@/commands/commands';
import { retryResult, useResult } from '@/data/results';
import { Button, ErrorNote, Menu, type MenuItem, toast } from '@/design';
import { useActions } from '@/shell/actions';
import { deleteLater } from './deleting';
import { LabelChosen } from './LabelChosen';

interface Props {
  id: string;
  onRetried: (id: string) => void;
  onDeleted: () => Promise<void>;
}

/** What can be done with one result. `onRetried` goes to the new result, `onDeleted` leaves the deleted one. */
export function ResultActions({ id, onRetried, onDeleted }: Props) {
  const { data, isPlaceholderData } = useResult(id);
  const client = useQueryClient();
  const navigate = useNavigate();
  const [labelling, setLabelling] = useState(false);
  const [mayRetry, mayDelete, mayLabel] = [useCan('call'), useCan('edit'), useCan('label')];
  const loaded = data && !isPlaceholderData ? data : undefined;
  const retry = useMutation({
    mutationFn: () => retryResult(id),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: ['results', 'one', id] });
      void client.invalidateQueries({ queryKey: ['results', 'newest'] });
      toast(made.status === 'ok' ? 'Retried: the new result has an answer.' : `Retried, and it failed again: ${made.error}`);
      onRetried(made.id);
    },
  });
  const remove = () => {
    deleteLater(client, [id]);
    void onDeleted();
  };
  const retryable = mayRetry && loaded?.record.status === 'failed' && loaded.record.retried_by === null;
  const copy = (what: string, text: string) => void navigator.clipboard.writeText(text).then(() => toast(`${what} copied.`));
  const read = readCommands(location.origin, id);
  const commands = (what: string, all: Commands) => Object.entries(ways).map(([way, name]): MenuItem => (
    { label: `${what} as ${name}`, onSelect: () => copy(name, all[way as Way]) }));
  const again = loaded && callCommands(location.origin, loaded.record);
  const items: (MenuItem | 'line')[] = [
    { label: 'Id', onSelect: () => copy('Id', id) },
    { label: 'Link to its page', onSelect: () => copy('Link', `${location.origin}/console/results/${id}`) },
    ...(loaded ? [
      { label: 'JSON', onSelect: () => copy('JSON', JSON.stringify(loaded.shaped, null, 2)) },
      { label: 'JSON with every probability', onSelect: () => copy('JSON', JSON.stringify(loaded.raw, null, 2)) },
      { label: 'JSON of the record', onSelect: () => copy('JSON', JSON.stringify(loaded.record, null, 2)) },
    ] : []),
    'line',
    ...commands('Read it', read),
    ...(again ? ['line' as const, ...commands('The same call', again)] : []),
  ];
  useActions([
    { id: 'result-id', group: 'Result', label: 'Copy the result’s id', keys: 'c', run: () => copy('Id', id) },
    { id: 'result-curl', group: 'Result', label: 'Copy as curl', run: () => copy('curl', read.curl) },
    {
      id: 'result-page', group: 'Result', label: 'Open on its own page', keys: 'o',
      run: () => void navigate({ to: '/results/$result', params: { result: id } }),
    },
    ...(retryable ? [{ id: 'result-retry', group: 'Result', label: 'Retry the result', run: () => retry.mutate() }] : []),
    ...(mayDelete ? [{ id: 'result-delete', group: 'Result', label: 'Delete the result', run: remove }] : []),
  ]);
  return (
    <>
      <div className="row">
        {retryable && <Button icon="retry" small busy={retry.isPending} onClick={() => retry.mutate()}>Retry</Button>}
        <Menu label="Copy" align="start" icon="copy" className="button secondary small" items={items}>Copy</Menu>
        {mayLabel && loaded?.raw.status === 'ok' && (
          <Button icon="check" small onClick={() => setLabelling(true)}>Label</Button>
        )}
        {mayDelete && <Button icon="trash" small onClick={remove}>Delete</Button>}
      </div>
      <ErrorNote error={retry.error} title="It was not retried." />
      {labelling && loaded && (
        <LabelChosen results={[loaded.raw]} onClose={() => setLabelling(false)} onDone={() => undefined} />
      )}
    </>
  );
}
