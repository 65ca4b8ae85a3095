import { useQuery } from '@tanstack/react-query';
import { api, ask, askAll, type Schemas, useCan, useSession } from '@/api';

export type Comment = Schemas['Comment'];

const of = (result_id: string) => ({ path: { result_id } });

/** The comments of a result, oldest first. */
export function useComments(id: string) {
  return useQuery({
    queryKey: ['results', 'comments', id],
    queryFn: async ({ signal }) => (await askAll((cursor) => ask(api.GET('/v1/results/{result_id}/comments', {
      params: { ...of(id), query: { limit: 100, cursor } }, signal,
    })))).reverse(),
    placeholderData: undefined,
  });
}

export const addComment = (id: string, text: string) =>
  ask(api.POST('/v1/results/{result_id}/comments', { params: of(id), body: { text } }));

export async function deleteComment(id: string, comment_id: string): Promise<void> {
  const params = { path: { result_id: id, comment_id } };
  await ask(api.DELETE('/v1/results/{result_id}/comments/{comment_id}', { params }));
}

/** Whom a result is assigned to: a member, or null. */
const readAssignee = async (id: string, signal?: AbortSignal) =>
  (await ask(api.GET('/v1/results/{result_id}/assignee', { params: of(id), signal: signal ?? null }))).member;

export function useAssignee(id: string) {
  return useQuery({
    queryKey: ['results', 'assignee', id],
    queryFn: ({ signal }) => readAssignee(id, signal),
    placeholderData: undefined,
  });
}

export const assign = (id: string, member_id: string | null) =>
  ask(api.PUT('/v1/results/{result_id}/assignee', { params: of(id), body: { member_id } }));

/** The members whom results can be assigned to, by name, the reader first. Those who may not assign see themselves alone. */
export function useAssignable(): { id: string; name: string }[] {
  const me = useSession().account?.member;
  const mayAssign = useCan('label');
  const { data: members = [] } = useQuery({
    queryKey: ['members', 'assignees'], enabled: mayAssign,
    queryFn: ({ signal }) => askAll((cursor) => ask(api.GET('/v1/assignees', {
      params: { query: { limit: 100, cursor } }, signal,
    }))),
  });
  const others = members.filter(({ id }) => id !== me?.id).sort((a, b) => a.name.localeCompare(b.name));
  return [...(me?.id ? [{ id: me.id, name: `${me.name} (you)` }] : []), ...others];
}

/** What a filter by assignee can be, in words. */
export function useAssigneeNames(): Map<string, string> {
  const me = useSession().account?.member.id;
  const others = useAssignable().filter(({ id }) => id !== me);
  return new Map([['me', 'me'], ['none', 'nobody'], ...others.map(({ id, name }): [string, string] => [id, name])]);
}
