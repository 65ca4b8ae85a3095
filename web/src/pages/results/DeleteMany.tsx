import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Button, Confirm, count, Dialog, ErrorNote, Skeleton, toast, toastBefore } from '@/design';
import { countDeleted, deleteMatching, deletionOf } from './many';
import type { ResultsSearch } from './search';

/** Deletes every result that matches: says how many first, and deletes after the time in which it can be undone. */
export function DeleteMany({ search, onClose, onDone }: { search: ResultsSearch; onClose: () => void; onDone: () => void }) {
  const client = useQueryClient();
  const { prism } = search;
  const which = deletionOf(search);
  const counted = useQuery({
    queryKey: ['results', 'deletion', prism, which], queryFn: () => countDeleted(prism!, which), enabled: prism !== undefined,
    staleTime: 0, gcTime: 0, placeholderData: undefined,
  });
  if (prism === undefined) {
    return (
      <Dialog open onClose={onClose} title="Delete all that match" actions={<Button onClick={onClose}>Close</Button>}>
        <p>All that match are deleted of one prism at a time. Choose a prism in the filters first.</p>
      </Dialog>
    );
  }
  const n = counted.data;
  const start = () => {
    if (!n) return;
    const act = async () => {
      await deleteMatching(prism, which, n);
      toast(`${count(n, 'result is', 'results are')} being deleted.`);
      await client.invalidateQueries({ queryKey: ['results'] });
    };
    toastBefore(
      `${count(n, 'result')} will be deleted in 10 seconds. If you close this tab before, nothing is.`, act, () => undefined,
      'Nothing was deleted.',
    );
    onDone();
    onClose();
  };
  return (
    <Confirm open onClose={onClose} onConfirm={start} verb={n ? `Delete ${count(n, 'result')}` : 'Delete'}
      title={n === undefined ? 'Delete all that match' : `Delete ${count(n, 'result')} of ${prism}?`}
      error={<ErrorNote error={counted.error} title="They could not be counted." onRetry={() => void counted.refetch()} />}>
      {n === undefined ? !counted.error && <Skeleton lines={2} /> : (
        <p>
          {n === 0 ? 'No result matches.'
            : 'They are deleted for good, with their texts and records, 10 seconds after you say so.'}
        </p>
      )}
    </Confirm>
  );
}
