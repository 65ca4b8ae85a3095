import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { labelOf } from '@/answers/words';
import type { Prism } from '@/data/prisms';
import { driftQuery } from '@/data/quality';
import { shown } from '@/design';

/** Says on each page of a watched prism that its answers drift, where it moves nothing: in the line below the title. */
export function DriftLine({ prism }: { prism: Prism }) {
  const { data } = useQuery(driftQuery(prism.slug, prism.latest_version));
  const alarmed = data?.questions.filter((q) => q.hour.alarm || q.day.alarm) ?? [];
  if (alarmed.length === 0) return null;
  const { question: first, option } = alarmed[0]!;
  const asked = prism.version.questions.find((q) => q.key === first);
  const which = `“${asked?.text ?? first}${option ? ` ${labelOf(asked, option)}` : ''}”`;
  const more = alarmed.length > 1 ? ` and ${shown(alarmed.length - 1)} more` : '';
  return (
    <Link className="prism-drifts" to="/prisms/$prism/quality" params={{ prism: prism.slug }}
      search={{ question: first, option, tab: 'drift' }}
      title={`Answers to ${which}${more} drift from the reference of version ${prism.latest_version}`}>
      Answers drift
    </Link>
  );
}
