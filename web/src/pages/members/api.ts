import { useQuery } from '@tanstack/react-query';
import { askAll, askRaw, type Role, useCan } from '@/api';

export interface Claim {
  name: string;
  value: string;
}

/** A member, or with `claim` a rule: whoever signs in by OpenID Connect with the claim becomes a member. */
export interface Member {
  id: string;
  name: string;
  email: string | null;
  role: Role;
  claim: Claim | null;
  signed_in_by: 'link' | 'openid' | null;
  created_at: string;
  last_seen_at: string | null;
}

/** A member with its sign-in link, a path of this server, which is shown once. A rule has none. */
export type InvitedMember = Member & { link?: string; expires_at?: string };

const path = (id: string, rest = '') => `/v1/members/${encodeURIComponent(id)}${rest}`;

async function send<T>(method: string, to: string, body?: object): Promise<T> {
  const init = body ? { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } } : {};
  const response = await askRaw(to, { method, ...init });
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const addMember = (member: { name: string; role: Role; email?: string | null; claim?: Claim }) => send<InvitedMember>('POST', '/v1/members', member);
export const changeMember = (id: string, change: { name?: string; role?: Role }) => send<Member>('PUT', path(id), change);
export const removeMember = (id: string) => send<undefined>('DELETE', path(id));
export const linkMember = (id: string) => send<InvitedMember>('POST', path(id, '/link'));

/** All members and rules, newest first, for owners. */
export function useMembers() {
  const own = useCan('own');
  return useQuery({
    queryKey: ['members'],
    enabled: own,
    queryFn: ({ signal }) => askAll<Member>(async (cursor) => {
      const response = await askRaw(`/v1/members?limit=100${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`, { signal });
      return (await response.json()) as { data: Member[]; next_cursor: string | null };
    }),
  });
}
