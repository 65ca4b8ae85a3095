import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { api, ApiError, ask, useCan } from '@/api';
import { useDraft } from '@/data/drafts';
import { examples } from '@/definitions/examples';
import { derived } from '@/definitions/lens';
import { blank, definitionOf, type Draft, draftOf } from '@/definitions/model';
import { type Pasted, readPasted } from '@/definitions/paste';
import { localProblems } from '@/definitions/problems';
import { Button, ButtonLink, count, Empty, ErrorNote, Note, Page, Section, Split, Textarea, toast } from '@/design';
import { useActions } from '@/shell/actions';
import { EditingProvider } from './Control';
import { Editor } from './Editor';
import { Foot } from './Foot';
import { LiveAnswers } from './LiveAnswers';
import { TryDraft } from './TryDraft';
import { nothing, type Typed } from './TryForm';
import { useDryRun, useSettled } from './useProblems';
import './prisms.css';

const route = getRouteApi('/frame/prisms/new');

/** A draft of a new prism, and what it began from. */
interface Kept {
  from: string;
  draft: Draft;
}

export function New(): ReactNode {
  const { from, then, file } = route.useSearch();
  const next = { then, file };
  const [kept, setKept] = useDraft<Kept>('new');
  if (!useCan('edit')) return <Page title="New prism"><Note>Your role may not make prisms. Owners and editors may.</Note></Page>;
  if (from === 'paste') return <Paste onRead={(draft) => setKept({ from: 'pasted', draft })} />;
  const example = examples.find((e) => e.id === from);
  const draft = kept && kept.from === from ? kept.draft : undefined;
  if (from && (draft || example || from === 'blank')) {
    return (
      <Form key={from} kept={draft} first={() => (example ? draftOf(example.definition) : blank())}
        onChange={(next) => setKept(next && { from, draft: next })} />
    );
  }
  return (
    <Page title="New prism" lead="A prism asks a model the same questions about every text that you send.">
      {kept && (
        <Note action={<ButtonLink to="/prisms/new" search={{ ...next, from: kept.from }}>Go on</ButtonLink>}>
          You began {kept.draft.name || kept.draft.slug || 'a prism'} and did not create it yet.
        </Note>
      )}
      <Section title="From an example">
        <ul className="starts">
          {examples.map(({ id, title, about, definition }) => (
            <li key={id}>
              <Link to="/prisms/new" search={{ ...next, from: id }}>{title}</Link>
              <p>{about}</p>
              <p className="soft">{count(definition.fields.length, 'field')}, {count(definition.questions.length, 'question')}</p>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="From nothing">
        <div className="row">
          <ButtonLink to="/prisms/new" search={{ ...next, from: 'blank' }} icon="plus">Blank form</ButtonLink>
          <ButtonLink to="/prisms/new" search={{ ...next, from: 'paste' }} icon="copy">Paste YAML or JSON</ButtonLink>
        </div>
      </Section>
    </Page>
  );
}

interface FormProps {
  kept: Draft | undefined;
  first: () => Draft;
  onChange: (draft: Draft | undefined) => void;
}

function Form({ kept, first, onChange }: FormProps) {
  const { try: trying, then, file } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const [initial] = useState(first);
  const [typed = nothing, setTyped] = useDraft<Typed>('try.new');
  const [attempted, setAttempted] = useState(false);
  const draft = kept ?? initial;
  const definition = definitionOf(draft);
  // Its slug is taken once it is created: no dry run of it any more.
  const [made, setMade] = useState(false);
  const body = {
    slug: draft.slug, ...(draft.name && { name: draft.name }), ...definition,
    ...(draft.lens && { lens: { columns: draft.lens } }),
  };
  const { problems: placed, other, checking } = useDryRun(['new prism'], body, localProblems(draft, true),
    (signal) => ask(api.POST('/v1/prisms', { body: { ...body, dry_run: true }, signal })), !made);
  // The one conflict of a new prism is of its slug.
  const taken = other?.status === 409;
  const problems = taken ? new Map([...placed, ['slug', other.message]]) : placed;
  // A try has no slug, so that questions can be asked before the prism has one.
  const unnamed = [...problems.keys()].every((path) => path === 'slug' || path === 'name');
  const create = useMutation({
    mutationFn: () => ask(api.POST('/v1/prisms', { body })),
    onSuccess: (prism) => {
      setMade(true);
      onChange(undefined);
      void client.invalidateQueries({ queryKey: ['prisms'] });
      toast(`${prism.name ?? prism.slug} created.`);
      void (then ? navigate({ to: '/runs/new', search: { prism: prism.slug, file } })
        : navigate({ to: '/prisms/$prism/try', params: { prism: prism.slug } }));
    },
  });
  const send = () => {
    setAttempted(true);
    if (problems.size === 0 && !create.isPending) create.mutate();
  };
  const toggle = (on: boolean | undefined) =>
    void navigate({ search: (before) => ({ ...before, try: on }), replace: true, resetScroll: false });
  useActions([{ id: 'create prism', group: 'New prism', label: 'Create prism', words: 'save', run: send }]);
  return (
    <Page title="New prism" actions={<ButtonLink to="/prisms/new" search={{ then, file }}>Change template</ButtonLink>}>
      <EditingProvider value={{ problems, all: attempted, disabled: false }}>
        <Split>
          <div className="stack">
            <LiveAnswers typed={typed} definition={definition} columns={draft.lens ?? derived(definition.questions)}
              active={Boolean(trying || kept)} sound={unnamed}>
              <Editor named draft={draft} onChange={onChange} />
            </LiveAnswers>
            {draft.lens && (
              <Note action={
                <Button small onClick={() => onChange({ ...draft, lens: undefined })}>Reset columns</Button>
              }>
                The pasted Lens, which is what calls and downloads show of each answer, has {count(draft.lens.length, 'column')}.
              </Note>
            )}
            <Foot problems={attempted || kept ? problems : new Map()} draft={draft} checking={checking}
              other={taken ? undefined : other} words="What you type is kept in this tab">
              <Button icon="play" aria-pressed={trying ?? false} onClick={() => toggle(!trying || undefined)}>Try</Button>
              <Button variant="primary" busy={create.isPending} onClick={send}>Create prism</Button>
            </Foot>
            <ErrorNote error={create.error instanceof ApiError && taken ? undefined : create.error}
              title="The prism was not created." />
          </div>
          {trying && (
            <TryDraft draft={draft} typed={typed} onType={setTyped} lens={draft.lens} broken={problems.size > 0}
              onClose={() => toggle(undefined)} />
          )}
        </Split>
      </EditingProvider>
    </Page>
  );
}

function Paste({ onRead }: { onRead: (draft: Draft) => void }) {
  const { then, file } = route.useSearch();
  const navigate = route.useNavigate();
  const [text = '', setText] = useDraft<string>('paste');
  const settled = useSettled(text, 200);
  const [read, setRead] = useState<Pasted>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let current = true;
    if (settled.trim()) {
      readPasted(settled).then((found) => current && setRead(found), (cause: unknown) => current && setError(cause));
    } else setRead(undefined);
    return () => { current = false; };
  }, [settled]);
  const draft = read?.draft;
  const local = draft
    ? [...localProblems(draft, true)].map(([path, message]) => ({ path, message, line: read.lineOf(path) })) : [];
  const problems = [...(read?.problems ?? []), ...local.filter((p) => !read?.problems.some((q) => q.path === p.path))]
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  return (
    <Page title="Paste a prism" actions={<ButtonLink to="/prisms/new" search={{ then, file }}>Change template</ButtonLink>}>
      <div className="sides">
        <Textarea label="YAML or JSON" mono rows={22} value={text} spellCheck={false}
          onChange={(event) => setText(event.target.value || undefined)}
          hint={<>As <code>prismctl prisms get</code> prints it, or the body of <code>POST /v1/prisms</code>.</>} />
        <div className="stack" role="status">
          <ErrorNote error={error} />
          {!text.trim() ? <Empty title="Nothing is pasted yet" command="prismctl prisms get PRISM">
            What you paste is checked here, line by line, before anything is made.
          </Empty> : read && (
            <>
              {problems.length > 0 && (
                <Section title={count(problems.length, 'problem')}>
                  <ul className="changes">
                    {problems.map(({ line, path, message }, i) => (
                      <li key={i}>
                        {line !== undefined && <strong>Line {line}. </strong>}{path && <code>{path} </code>}{message}
                      </li>
                    ))}
                  </ul>
                </Section>
              )}
              {draft && (
                <>
                  <Note tone={problems.length ? 'warn' : 'good'}>
                    {draft.name || draft.slug || 'A prism'}: {count(draft.fields.length, 'field')},
                    {' '}{count(draft.questions.length, 'question')}
                    {draft.lens && `, a Lens of ${count(draft.lens.length, 'column')}`}.
                  </Note>
                  <div className="row">
                    <Button variant="primary" onClick={() => {
                      onRead(draft);
                      void navigate({ search: { then, file, from: 'pasted' } });
                    }}>
                      {problems.length ? 'Mend it in the form' : 'Go on in the form'}
                    </Button>
                  </div>
                </>
              )}
            </>
          )}
        </div>
      </div>
    </Page>
  );
}
