import { useCan } from '@/api';
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
  const more = need - have;
  return (
    <Empty drawing="reliability"
      title={`${count(more, 'more label')} until there ${what.startsWith('a ') ? 'is' : 'are'} ${what}`}
      command={
        `prismctl labels queue --prism ${prism} --question ${question} --version ${version} --limit ${more} -o csv > queue.csv\n`
        + `prismctl labels import labelled.csv --prism ${prism} --sample random`
      }
      action={canLabel
        ? <ButtonLink to="/prisms/$prism/label" params={{ prism }} search={{ question, version }} variant="primary">
          Label results
        </ButtonLink>
        : <span className="soft">Your role may not label. Owners, editors and labellers may.</span>}>
      {have} of {need} labels count so far. A label says what was right. Labels in the order “least sure” never count: they
      say nothing about the other results.
    </Empty>
  );
}
