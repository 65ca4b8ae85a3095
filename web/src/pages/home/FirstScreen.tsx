import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, useRef, useState } from 'react';
import { api, type Schemas, useCan, usePrisms } from '@/api';
import { callCommands } from '@/commands/commands';
import { tryDefinition } from '@/data/prisms';
import { orFailed } from '@/data/results';
import { examples } from '@/definitions/examples';
import { Button, ButtonLink, Code, Empty, ErrorNote, Note, onKeys, Page, shown, Skeleton, Textarea } from '@/design';
import { fieldOf, type RawAnswers } from './answered';
import { Refraction } from './Refraction';

const message = 'I was charged twice for my order and want a refund today!';

interface Answered {
  answers: RawAnswers | null;
  error: string | null;
  /** Of the result that is kept. */
  id?: string;
}

/** Asks a prism about a message, or an example where there is no prism; what an example answers is not kept. */
async function answer(prism: Schemas['Prism'] | undefined, text: string, key: string): Promise<Answered> {
  if (!prism) {
    const { definition } = examples[0]!;
    const { raw, error } = await tryDefinition({ definition, fields: fieldOf(definition.fields, text) });
    return { answers: raw, error };
  }
  return (await orFailed(await api.POST('/v1/prisms/{prism}/results', {
    params: { path: { prism: prism.slug }, query: { format: 'raw' } },
    body: { fields: fieldOf(prism.version.fields, text), idempotency_key: key },
  }))) as unknown as Answered;
}

/** The first screen of an account without results: one message, and what a prism says of it. */
export function FirstScreen() {
  const prisms = usePrisms('false');
  const mayCall = useCan('call');
  const mayEdit = useCan('edit');
  const [text, setText] = useState(message);
  const attempt = useRef<{ text: string; key: string }>(undefined);
  const prism = prisms.data?.[0];
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => {
      // The same message has the same key, so that it is answered once when a response was lost.
      if (attempt.current?.text !== text) attempt.current = { text, key: crypto.randomUUID() };
      return answer(prism, text, attempt.current.key);
    },
    onSuccess: () => { attempt.current = undefined; },
  });
  const questions = (prism?.version ?? examples[0]!.definition).questions as Schemas['Question'][];
  const send = () => { if (text.trim() && !isPending) mutate(); };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    send();
  };
  if (!mayCall) return (
    <Page title="Home">
      <Empty title="Results will be here" drawing="results">
        There is no result yet, and your role may not make one. Owners, editors and callers of this account may.
      </Empty>
    </Page>
  );
  return (
    <div className="home-first">
      <Page title="Ask a text something." name="Home"
        lead={`Paste a message. Prism answers every question with a probability${prism ? ', and keeps the answer' : ''}.`}>
        <ErrorNote error={prisms.error} title="The prisms could not be loaded." onRetry={() => void prisms.refetch()} />
        {prisms.data ? (
          <>
            <form className="home-box" onSubmit={(event) => { event.preventDefault(); send(); }}>
              <Textarea className="grows" label="Message" hideLabel rows={1} value={text} onKeyDown={onKeys(onKey)}
                onChange={(event) => setText(event.target.value)} />
              <div className="row">
                <span className="soft grow">
                  Asks {shown(questions.length)} {questions.length === 1 ? 'question' : 'questions'} of{' '}
                  {prism ? `“${prism.name ?? prism.slug}”` : `the example “${examples[0]!.title}”`}
                </span>
                <Button type="submit" variant="primary" icon="play" busy={isPending} aria-keyshortcuts="Enter">Answer</Button>
              </div>
            </form>
            <ErrorNote error={error} title="The message was not answered." onRetry={send} />
            {data?.error && <Note tone="bad"><strong>The model gave no usable answer.</strong> {data.error}</Note>}
            <Refraction questions={questions} columns={prism?.lens.columns ?? []} answers={data?.answers ?? undefined} />
            {data?.id && (
              <p>
                The answer is kept. <Link to="/results/$result" params={{ result: data.id }}>Open its result</Link>, or{' '}
                <Link to="/prisms/$prism" params={{ prism: prism!.slug }}>look at the prism</Link>.
              </p>
            )}
          </>
        ) : !prisms.error && <Skeleton shape="form" lines={1} />}
        <div className="row">
          {mayEdit && <ButtonLink to="/prisms/new" icon="plus">Ask your own questions</ButtonLink>}
          <ButtonLink to="/runs/new" search={prism ? { prism: prism.slug } : {}} icon="upload">Upload a spreadsheet</ButtonLink>
        </div>
        <FromCode prism={prism} text={text} />
      </Page>
    </div>
  );
}

function FromCode({ prism, text }: { prism: Schemas['Prism'] | undefined; text: string }) {
  const owns = useCan('own');
  return (
    <details className="home-code">
      <summary>Call it from code</summary>
      <div className="stack-2">
        <p className="soft">
          Programs call the API with a key, which is in <code>PRISM_API_KEY</code> here.{' '}
          {owns ? <Link to="/keys">Create one</Link> : 'Ask an owner of this account for one'}; a caller’s is enough.
        </p>
        <Code label="Copy call" text={callCommands(location.origin, {
          prism: prism?.slug ?? 'tickets', fields: fieldOf(prism?.version.fields ?? [{ key: 'text' }], text),
        }).curl} />
      </div>
    </details>
  );
}
