import { useQuery } from '@tanstack/react-query';
import { api, ask, askAll, type Schemas, useCan } from '@/api';

/** A member, or with `claim` a rule: whoever signs in by OpenID Connect with the claim may become a member. */
export type Member = Schemas['Member'];
/** A member with its sign-in link, a path of this server, which is shown once. A rule has none. */
export type InvitedMember = Schemas['InvitedMember'];

const of = (member_id: string) => ({ params: { path: { member_id } } });

export const addMember = (body: Schemas['NewMember']) => ask(api.POST('/v1/members', { body }));
export const changeMember = (id: string, body: Schemas['MemberChange']) =>
  ask(api.PUT('/v1/members/{member_id}', { ...of(id), body }));
export const removeMember = (id: string) => ask(api.DELETE('/v1/members/{member_id}', of(id)));
export const linkMember = (id: string) => ask(api.POST('/v1/members/{member_id}/link', of(id)));

/** All members and rules, newest first, for owners. */
export function useMembers() {
  const own = useCan('own');
  return useQuery({
    queryKey: ['members'],
    enabled: own,
    queryFn: ({ signal }) =>
      askAll((cursor) => ask(api.GET('/v1/members', { params: { query: { limit: 100, cursor } }, signal }))),
  });
}
