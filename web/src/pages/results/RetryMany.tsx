import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { shellWord } from '@/commands/commands';
import { Button, Code, count, Dialog, ErrorNote, exactTime, Note, Skeleton, toast } from '@/design';
import { countMatching, type Match, matchNow, matchOf, retryMatching } from './many';
import { beyondRetry, type ResultsSearch } from './search';

/** Retries every failed result that matches: says how many first, and again when there are more or fewer by then. */
export function RetryMany({ search, onClose }: { search: ResultsSearch; onClose: () => void }) {
  const match = matchOf(search);
  const beyond = beyondRetry(search);
  if (!match || beyond.length) {
    return (
      <Dialog open onClose={onClose} title="Retry all that match" actions={<Button onClick={onClose}>Close</Button>}>
        <p>{match
          ? `Clear these filters first (${beyond.join(', ')}), or select rows and retry those.`
          : 'All that match can be retried for one prism at a time. Choose a prism in the filters first.'}</p>
      </Dialog>
    );
  }
  return <Asking match={match} onClose={onClose} />;
}

const flagsOf = ({ from, to, q, where = [] }: Match) => Object.entries({ from, to, q, where })
  .flatMap(([name, value]) => [value].flat().map((one) => (one === undefined ? '' : ` --${name} ${shellWord(one)}`))).join('');

function Asking({ match, onClose }: { match: Match; onClose: () => void }) {
  const client = useQueryClient();
  const [changed, setChanged] = useState<number>();
  const counted = useQuery({
    queryKey: ['results', 'matching', match], queryFn: () => countMatching(match), staleTime: 0, gcTime: 0,
    placeholderData: undefined,
  });
  const n = changed ?? counted.data;
  const retry = useMutation({
    mutationFn: (expect: number) => retryMatching(match, expect),
    onSuccess: (retrying) => {
      toast(`${count(retrying, 'result')} being retried. Each gets a new result.`);
      void client.invalidateQueries({ queryKey: ['results', 'newest'] });
      onClose();
    },
    onError: (error) => setChanged(matchNow(error)),
  });
  const span = [
    match.from && `from ${exactTime(match.from).split('\n')[0]}`, match.to && `before ${exactTime(match.to).split('\n')[0]}`,
  ].filter(Boolean).join(' ');
  const error = changed === undefined ? retry.error : undefined;
  return (
    <Dialog open onClose={onClose}
      title={n === undefined ? 'Retry all that match' : `Retry ${count(n, 'failed result')} of ${match.prism}?`} actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" icon="retry" disabled={!n} busy={retry.isPending} onClick={() => n && retry.mutate(n)}>
            {n ? `Retry ${count(n, 'result')}` : 'Retry'}
          </Button>
        </>
      }>
      <div className="stack">
        {n === undefined && !counted.error && <Skeleton lines={2} />}
        <ErrorNote error={counted.error} title="They could not be counted." onRetry={() => void counted.refetch()} />
        {changed !== undefined && (
          <Note tone="warn">
            The number has changed: {count(changed, 'result matches', 'results match')} now. Nothing was retried yet.
          </Note>
        )}
        {n !== undefined && (
          <p>
            {n === 0 ? 'No failed result of this prism waits for a retry'
              : `Every failed result of ${match.prism} that ${match.q || match.where ? 'matches and ' : ''}was not retried yet${
                span ? ', saved' : ''}`}
            {span && ` ${span}`}
            {n === 0 ? '.' : `${span ? ',' : ''} is sent to the model again with the fields it has, and each gets a new result.`}
          </p>
        )}
        <ErrorNote error={error} title="Nothing was retried." />
        <Code label="Copy command"
          text={`prismctl results retry --all-failed --prism ${shellWord(match.prism)}${flagsOf(match)}`} />
      </div>
    </Dialog>
  );
}
