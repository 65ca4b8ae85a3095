import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useState } from 'react';
import { useCan, useSession } from '@/api';
import { useDraft } from '@/data/drafts';
import { Button, ErrorNote, onKeys, Select, Skeleton, Textarea, Time, toastBefore } from '@/design';
import { isMac } from '@/design/Values';
import { addComment, assign, type Comment, deleteComment, useAssignable, useAssignee, useComments } from './comments';

/** Whom a result is assigned to, and what people say of it. */
export function Discussion({ id }: { id: string }) {
  const mayComment = useCan('label');
  const { data: comments, error, refetch } = useComments(id);
  const [waiting, setWaiting] = useState<ReadonlySet<string>>(new Set());
  const client = useQueryClient();
  const renew = () => client.invalidateQueries({ queryKey: ['results', 'comments', id] });
  const hide = (comment: string, hidden: boolean) =>
    setWaiting((old) => new Set(hidden ? [...old, comment] : [...old].filter((one) => one !== comment)));
  const remove = (comment: string) => {
    hide(comment, true);
    const act = () => deleteComment(id, comment).finally(async () => { await renew(); hide(comment, false); });
    toastBefore(
      'The comment will be deleted in 10 seconds. If you close this tab before, it is not.', act, () => hide(comment, false),
      'The comment was not deleted.',
    );
  };
  return (
    <section className="results-part">
      <h2>Comments</h2>
      <Assigned id={id} may={mayComment} />
      <ErrorNote error={error} title="The comments could not be read." onRetry={() => void refetch()} />
      {!comments ? !error && <Skeleton lines={2} /> : (
        <ol className="results-comments">
          {comments.filter((one) => !waiting.has(one.id)).map((one) => (
            <Said key={one.id} comment={one} onDelete={() => remove(one.id)} />
          ))}
        </ol>
      )}
      {mayComment && comments && <Write key={id} id={id} onWritten={renew} />}
    </section>
  );
}

const sends = `${isMac ? '⌘' : 'Ctrl'}+Enter`;

const sendByKeys = (event: KeyboardEvent<HTMLTextAreaElement>) => {
  if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
  event.preventDefault();
  event.currentTarget.form!.requestSubmit();
};

/** One comment. Its author may delete it, and an owner any. */
function Said({ comment: { author, text, created_at }, onDelete }: { comment: Comment; onDelete: () => void }) {
  const own = useCan('own');
  const [me, mayComment] = [useSession().account?.member.id, useCan('label')];
  return (
    <li>
      <p className="row">
        <strong>{author.name}</strong>{author.kind === 'key' && <span className="soft">API key</span>}
        <span className="soft"><Time at={created_at} /></span>
        <span className="grow" />
        {(own || (mayComment && author.id === me)) && (
          <Button small variant="quiet" icon="trash" aria-label={`Delete the comment of ${author.name}`} onClick={onDelete}>
            Delete
          </Button>
        )}
      </p>
      <p className="results-value">{text}</p>
    </li>
  );
}

function Write({ id, onWritten }: { id: string; onWritten: () => Promise<void> }) {
  const [text = '', setText] = useDraft<string>(`comment.${id}`);
  const add = useMutation({
    mutationFn: () => addComment(id, text.trim()), onSuccess: () => { setText(undefined); return onWritten(); },
  });
  const ready = text.trim() !== '';
  return (
    <form className="stack-2" onSubmit={(event) => { event.preventDefault(); if (ready && !add.isPending) add.mutate(); }}>
      <Textarea label="Add a comment" hideLabel placeholder={`Say something about this result. ${sends} sends it.`}
        rows={2} maxLength={2000} onKeyDown={onKeys(sendByKeys)}
        value={text} onChange={({ target }) => setText(target.value || undefined)} />
      <div><Button small type="submit" disabled={!ready} busy={add.isPending}>Comment</Button></div>
      <ErrorNote error={add.error} title="The comment was not saved." />
    </form>
  );
}

function Assigned({ id, may }: { id: string; may: boolean }) {
  const client = useQueryClient();
  const { data: to, error, isPending } = useAssignee(id);
  const members = useAssignable();
  const change = useMutation({
    mutationFn: (member: string) => assign(id, member || null),
    onSuccess: ({ member }) => {
      client.setQueryData(['results', 'assignee', id], member);
      void client.invalidateQueries({ queryKey: ['results', 'counts'] });
    },
  });
  if (isPending) return <Skeleton lines={1} />;
  const all = to && !members.some((one) => one.id === to.id) ? [...members, to] : members;
  return (
    <>
      {!to && error ? null : may ? (
        <Select label="Assigned to" className="results-assigned" value={to?.id ?? ''} disabled={change.isPending}
          options={[['', 'Nobody'], ...all.map((one): [string, string] => [one.id, one.name])]}
          onChange={({ target }) => change.mutate(target.value)} />
      ) : <p>Assigned to {to?.name ?? 'nobody'}</p>}
      <ErrorNote error={error ?? change.error} title={error ? 'The assignee could not be read.' : 'It was not assigned.'} />
    </>
  );
}
