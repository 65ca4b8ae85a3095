import { useQuery } from '@tanstack/react-query';
import type { Question } from '@/answers/words';
import { api, ask, type Schemas } from '@/api';
import { moving } from '@/data/events';
import type { Run } from '@/data/runs';

const mostQuestions = 20; // that one call counts

/** How many results of a run have which answers to questions; live while the run moves. */
export function useRunCounts(run: Run, questions: Question[]): Schemas['ResultCounts'] | undefined {
  const query = { prism: run.prism, run: run.id, by: questions.slice(0, mostQuestions).map(({ key }) => key).join(',') };
  const { data } = useQuery({
    queryKey: ['results', 'counts', query, run.status],
    queryFn: ({ signal }) => ask(api.GET('/v1/results/counts', { params: { query }, signal })),
    enabled: query.by !== '' && run.ok > 0,
    refetchInterval: moving(run) ? 2000 : false,
    placeholderData: (previous, before) => (JSON.stringify(before?.queryKey[2]) === JSON.stringify(query) ? previous : undefined),
  });
  return data;
}
