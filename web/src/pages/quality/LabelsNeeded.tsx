import { useQuery } from '@tanstack/react-query';
import { useCan } from '@/api';
import { readQueue } from '@/data/quality';
import { ButtonLink, count, Empty } from '@/design';

interface Props {
  prism: string;
  version: number;
  question: string;
  have: number;
  need: number;
  what: string;
}

/** Says how many more labels something needs, and how they are made. */
export function LabelsNeeded({ prism, version, question, have, need, what }: Props) {
  const canLabel = useCan('label');
  const canCall = useCan('call');
  const more = need - have;
  const of = { prism, question, version, order: 'random' } as const;
  const { data: queue } = useQuery({
    queryKey: ['quality', prism, 'queue', of], queryFn: ({ signal }) => readQueue(of, undefined, signal),
    placeholderData: undefined,
  });
  // A page of a queue may be empty before its end.
  const none = queue && queue.data.length === 0 && queue.next_cursor === null;
  return (
    <Empty drawing="reliability"
      title={`${count(more, 'more label')} until there ${what.startsWith('a ') ? 'is' : 'are'} ${what}`}
      command={
        `prismctl labels queue --prism ${prism} --question ${question} --version ${version} --limit ${more} -o csv > queue.csv\n`
        + `prismctl labels import labelled.csv --prism ${prism} --sample random`
      }
      action={none ? canCall
        ? <ButtonLink to="/runs/new" search={{ prism }} variant="primary">New run</ButtonLink>
        : <span className="soft">Your role may not start a run. Owners, editors and callers may.</span>
        : canLabel
        ? <ButtonLink to="/prisms/$prism/label" params={{ prism }} search={{ question, version }} variant="primary">
          Label results
        </ButtonLink>
        : <span className="soft">Your role may not label. Owners, editors and labellers may.</span>}>
      {none && `Each result of version ${version} has its label, so new results are needed. `}
      {have} of {need} labels count so far. A label says what was right. Labels in the order “least sure” never count: they
      say nothing about the other results.
    </Empty>
  );
}
