import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { labelOf } from '@/answers/words';
import { Note, shown } from '@/design';
import type { Prism } from '../prisms/calls';
import { driftQuery } from './calls';

/** Says on each page of a watched prism that its answers drift. */
export function DriftLine({ prism }: { prism: Prism }) {
  const { data } = useQuery(driftQuery(prism.slug, prism.latest_version));
  const alarmed = data?.questions.filter((q) => q.hour.alarm || q.day.alarm) ?? [];
  if (alarmed.length === 0) return null;
  const { question: first, option } = alarmed[0]!;
  const asked = prism.version.questions.find((q) => q.key === first);
  return (
    <Note tone="warn">
      Answers to “{asked?.text ?? first}{option && ` ${labelOf(asked, option)}`}”
      {alarmed.length > 1 && ` and ${shown(alarmed.length - 1)} more`} drift from the reference of
      version {prism.latest_version}.{' '}
      <Link to="/prisms/$prism/quality" params={{ prism: prism.slug }} search={{ question: first, option, tab: 'drift' }}>
        Look at the drift
      </Link>
    </Note>
  );
}
