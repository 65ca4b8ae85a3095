import type { ReactNode } from 'react';
import { usePrismOfPage } from '@/data/prisms';
import type { QueueOf } from '@/data/quality';
import { useCounts } from '@/data/results';
import { Button, count, Note, shown } from '@/design';

interface Props {
  of: QueueOf;
  /** Each question is asked. */
  all: boolean;
  /** Labels the results of another version, or of any. */
  onVersion: (version: number | 'any') => void;
}

/** Results that wait for a label: for that of the question, in each version that asks it, or for any. */
const waiting = ({ question, where }: QueueOf, all: boolean) =>
  [...(where ?? []), ...(all ? ['@labelled:is:no'] : [`${question}:unlabelled`, `${question}:from:0`])];

/** How many texts wait for the reader, and the way to them. It keeps its room before they are counted. */
export function AssignedToYou({ of, all, onLabel }: Pick<Props, 'of' | 'all'> & { onLabel: () => void }): ReactNode {
  const { data } = useCounts({ prism: of.prism, status: 'ok', assignee: 'me', where: waiting(of, all) }, '@version');
  return (
    <div className="label-assigned">
      {data && data.total > 0 && (
        <>
          <span><strong>Assigned to you</strong>: {count(data.total, 'text')} without a label</span>
          <Button small onClick={onLabel}>Label {data.total === 1 ? 'it' : 'them'}</Button>
        </>
      )}
    </div>
  );
}

/** For which version labels count, and what else waits for one. Its size does not depend on what is counted. */
export function OtherVersions({ of, all, onVersion }: Props): ReactNode {
  const { prism } = usePrismOfPage();
  const latest = prism.latest_version;
  const { data } = useCounts({
    prism: of.prism, status: 'ok', ...(of.q !== undefined && { q: of.q }),
    where: waiting(of, all), ...(of.assignee !== undefined && { assignee: of.assignee }),
  }, '@version', latest > 1 && of.version === latest);
  if (latest === 1) return null;
  if (of.version !== latest) return (
    <Note action={<Button small onClick={() => onVersion(latest)}>Label version {latest}</Button>}>
      Labels count for their version alone: version {latest}, the latest, is measured without those
      of {of.version === undefined ? 'older versions' : `version ${of.version}`}.
    </Note>
  );
  const others = (data?.by['@version'] ?? []).filter((one) => Number(one.value) !== latest && one.count > 0)
    .sort((a, b) => Number(b.value) - Number(a.value));
  const sum = others.reduce((total, one) => total + one.count, 0);
  const to = others.length === 1 ? Number(others[0]!.value) : 'any';
  const each = others.map((one) => `${shown(one.count)} of version ${one.value}`).join(', ');
  return (
    <div className="label-versions"><Note action={
      <Button small onClick={() => onVersion(to)}>{to === 'any' ? 'Label any version' : `Label version ${to}`}</Button>
    }>
      {sum > 0 ? `${count(sum, 'more text')} without a label ${sum === 1 ? 'is' : 'are'} of `
        + `${to === 'any' ? `older versions (${each})` : `version ${to}`}. `
        : 'Only texts of the latest version are asked for. '}
      Labels count for their version alone.
    </Note></div>
  );
}
