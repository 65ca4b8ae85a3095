import { useQueries, useQuery } from '@tanstack/react-query';
import { qualityQuery, tooFew } from '@/data/quality';

/**
 * How many labels of each question of a version count; undefined where that is not known. One call measures all of them, unless
 * each has too few: then one for each says how many, and has nothing to measure.
 */
export function useCounted(prism: string, version: number, questions: string[]): Record<string, number | undefined> {
  const once = { retry: false, staleTime: Infinity };
  const only = questions.length === 1 ? questions[0] : undefined;
  const all = useQuery({ ...qualityQuery({ prism, version, question: only }), ...once });
  const few = tooFew(all.error) !== undefined;
  const each = useQueries({
    queries: questions.map((question) =>
      ({ ...qualityQuery({ prism, version, question }), ...once, enabled: few && only === undefined })),
  });
  return Object.fromEntries(questions.map((key, i) => [
    key,
    all.data?.questions.find((one) => one.question === key)?.counted
      ?? tooFew(only === undefined ? each[i]?.error : all.error)?.have,
  ]));
}
