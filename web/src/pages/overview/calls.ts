import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, ask } from '@/api';
import type { Prism } from '@/data/prisms';
import { span } from '@/data/distribution';
import { type Figure, qualityQuery, tooFew } from '@/data/quality';
import { useCounts } from '@/data/results';
import { dayAfter, today } from '@/data/usage';
import { fewest, rightOf } from '../quality/figures';

/** What a prism used in the days that are shown, each day. */
export const spentQuery = (prism: string) => {
  const query = { prism, from: dayAfter(today(), 1 - span), to: dayAfter(today(), 1) };
  return queryOptions({
    queryKey: ['usage', query],
    staleTime: 60_000, placeholderData: undefined,
    queryFn: ({ signal }) => ask(api.GET('/v1/usage', { params: { query }, signal })),
  });
};

interface Accuracy {
  accuracy?: Figure;
  counted?: number;
  /** How many more labels it takes to know it. */
  missing?: number;
}

/** How often the newest version answers a question right. It is asked where there are labels enough: fewer are an error. */
export function useAccuracy(prism: Prism, question: string, enabled = true): Accuracy {
  const of = { prism: prism.slug, version: prism.latest_version };
  const labels = useCounts({ ...of, where: [`${question}:labelled`] }, '@labelled', enabled).data?.total;
  const { data, error } = useQuery({
    ...qualityQuery({ ...of, question }), enabled: enabled && labels !== undefined && labels >= fewest,
  });
  const measured = data?.questions[0];
  const right = measured && rightOf(measured);
  if (right) return { accuracy: right.figure, counted: measured!.counted };
  if (labels === undefined) return {};
  const few = tooFew(error); // labels of the least sure results do not count
  return { missing: few ? few.need - few.have : Math.max(0, fewest - labels) };
}
