import { Badge, Status } from '@/design';
import type { Member } from './api';

/** Whether a member has signed in, or is a rule. */
export function MemberStatus({ member }: { member: Member }) {
  if (member.claim) return <Badge icon="filter">rule</Badge>;
  return <Status status={member.signed_in_by ? 'active' : 'invited'} />;
}
