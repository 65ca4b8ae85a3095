import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, ask, useCan, useKeys } from '@/api';
import { callCommands } from '@/commands/commands';
import { Badge, ButtonLink, Code } from '@/design';

/** From nothing to the first result, in three steps. A step that is done says so. */
export function FirstSteps() {
  const edits = useCan('edit');
  const owns = useCan('own');
  const keys = useKeys();
  const prisms = useQuery({
    queryKey: ['prisms', 'newest'],
    queryFn: ({ signal }) => ask(api.GET('/v1/prisms', { params: { query: { limit: 1 } }, signal })),
  });
  const prism = prisms.data?.data[0];
  const hasKey = keys.data?.some((key) => !key.revoked_at) ?? false;
  const call = callCommands(location.origin, { prism: prism?.slug ?? 'tickets', fields: examplesOf(prism) }).curl;
  return (
    <ol className="home-steps">
      <li>
        <h2>Describe what you want to know <Done done={Boolean(prism)} /></h2>
        <p className="soft">
          A prism is a set of questions about a text, each with its options. A model answers with a probability for every option.
        </p>
        <div className="row">
          {prism
            ? <ButtonLink to="/prisms/$prism" params={{ prism: prism.slug }}>Open {prism.name ?? prism.slug}</ButtonLink>
            : edits && <ButtonLink to="/prisms/new" variant="primary" icon="plus">Create prism</ButtonLink>}
        </div>
      </li>
      <li>
        <h2>Create a key for your program <Done done={hasKey} /></h2>
        <p className="soft">Programs call the API with a key. Its role says what it may do; a caller is enough here.</p>
        {owns ? <div className="row"><ButtonLink to="/keys" icon="key">Keys</ButtonLink></div>
          : <p>Ask an owner of this account for one.</p>}
      </li>
      <li>
        <h2>Call it</h2>
        <p className="soft">
          The answer is saved as a result and appears on this page. In the shell, <code>PRISM_API_KEY</code> holds the key.
        </p>
        <Code text={call} label="Copy call" />
        {prism && <p>Or <Link to="/prisms/$prism" params={{ prism: prism.slug }}>try it here</Link>, without a key.</p>}
      </li>
    </ol>
  );
}

function Done({ done }: { done: boolean }) {
  return done ? <Badge tone="good" icon="check">done</Badge> : null;
}

/** An example of each field of the prism. */
function examplesOf(prism: { version: { fields: { key: string }[] } } | undefined): Record<string, string> {
  const keys = prism?.version.fields.map((field) => field.key) ?? ['text'];
  return Object.fromEntries(keys.map((key, i) => [key, i ? '…' : 'I was charged twice for my order and want a refund.']));
}
