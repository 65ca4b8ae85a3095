import { type FormEvent, type ReactNode, useContext, useRef, useState } from 'react';
import { type Account, session } from '@/api/session';
import { Button } from '@/design/Button';
import { Input, Select, Textarea } from '@/design/Field';
import { useAccount, usePrisms } from './account';
import { deref, type Operation, type Parameter } from './document';
import { fill, fillable, type Prism } from './fill';
import { keyInput, setOwnKey, typedKey, useOwnKey } from './key';
import { pretty } from './layout';
import { Listing } from './Listing';
import { Required, Schemas } from './Members';
import { send, type Sent } from './send';
import { StatusCode } from './StatusCode';

/**
 * A form that sends the call to the server that the page comes from. A session fills it with its key and the account's prisms.
 */
export function TryIt({ operation }: { operation: Operation }) {
  const { method, path, parameters, body, needsKey, summary } = operation;
  const account = useAccount();
  const prisms = usePrisms(needsKey ? account : undefined);
  const own = useOwnKey() || !account;
  const filled = body && fillable(body.examples[0]?.value);
  const parameter = parameters.find(({ name }) => name === 'prism');
  const [chosen, setChosen] = useState<string>();
  const slug = chosen ?? (parameter?.required || (!parameter && filled) ? prisms[0]?.slug : undefined);
  const prism = prisms.find((one) => one.slug === slug);

  const [example, setExample] = useState(0);
  const [typed, setTyped] = useState<string>(); // the body, once it was changed
  const texts = body?.examples.map(({ value }) =>
    (typeof value === 'string' ? value : pretty(prism && filled ? fill(value, prism) : value))) ?? [];
  const text = typed ?? texts[example] ?? '';
  const [busy, setBusy] = useState(false);
  const [sent, setSent] = useState<Sent>();
  const waiting = useRef(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (waiting.current) return; // the form waits for an answer; a disabled button would lose the focus
    waiting.current = true;
    const data = new FormData(event.currentTarget);
    setBusy(true);
    setSent(undefined);
    try {
      setSent(await send({
        method, path, key: async () => (needsKey ? own ? typedKey() : session.key() : undefined),
        body: body && { type: body.type, text },
        parameters:
          parameters.map(({ name, in: place }) => ({ name, in: place, value: String(data.get(`${place} ${name}`) ?? '') })),
      }));
    } finally {
      waiting.current = false;
      setBusy(false);
    }
  };
  const prismOptions = prisms.map(({ slug: of, name }) => [of, name ? `${of}: ${name}` : of] as const);
  return (
    <form className="try-form" aria-label={`Try it: ${summary}`} autoComplete="off" onSubmit={(event) => void submit(event)}>
      <div className="try-fields">
        {needsKey && account && <KeyChoice account={account} own={own} />}
        {needsKey && own && (
          <Input ref={(input) => (input ? keyInput(input) : undefined)} type="password" label={<>API key <Required /></>}
            placeholder="prism_…"
            required spellCheck={false} autoComplete="off" />
        )}
        {parameters.map((each) => (each === parameter && prisms.length > 0
          ? <Select key="prism" label={<ParameterLabel parameter={each} />} name={`${each.in} prism`}
              required={each.required ?? false} value={slug ?? ''}
              options={each.required ? prismOptions : [['', 'not sent'], ...prismOptions]}
              onChange={(event) => setChosen(event.target.value)} />
          : (
            <Control key={`${each.in} ${each.name}${each.name === 'version' ? slug ?? '' : ''}`} parameter={each} prism={prism} />
          )))}
        {!parameter && filled && prisms.length > 0 && (
          <Select label="Prism that fills the body" value={slug} onChange={(event) => setChosen(event.target.value)}
            options={[...prismOptions, ['', 'none, the example as it is']]} />
        )}
        {texts.length > 1 && (
          <Select label="Example of a body" value={example}
            onChange={(event) => { setExample(Number(event.target.value)); setTyped(undefined); }}
            options={body!.examples.map(({ summary: words }, at) => [String(at), words.replaceAll('`', '')])} />
        )}
      </div>
      {body && (
        <Textarea label="Body" mono rows={Math.min(24, Math.max(...texts.map((each) => each.split('\n').length)))}
          spellCheck={false}
          value={text} onChange={(event) => setTyped(event.target.value)} />
      )}
      <div className="row">
        <Button type="submit" variant="primary" busy={busy}>Send</Button>
        {typed !== undefined && typed !== texts[example] && (
          <Button variant="quiet" onClick={() => setTyped(undefined)}>Reset body</Button>
        )}
        <p className="soft try-note">
          A real call to the server that this page comes from.{needsKey && ' The key stays in the memory of this page.'}
        </p>
      </div>
      <p role="status" className="outcome">
        {busy && 'Waiting for the answer…'}
        {sent?.status && <><StatusCode code={String(sent.status.code)} /> {sent.status.words} </>}
        {sent?.outcome}
      </p>
      {sent?.status && (
        <div className="reply">
          {sent.headers && (
            <pre className="heads" tabIndex={0} role="group" aria-label="Headers of the answer">{sent.headers}</pre>
          )}
          {sent.text && (
            <Listing label="Answer" text={sent.text} isJson={sent.type.startsWith('application/json') && isWhole(sent.text)} />
          )}
        </div>
      )}
    </form>
  );
}

// Part of an answer is not laid out, because its end is not known.
function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function KeyChoice({ account: { name, member }, own }: { account: Account; own: boolean }) {
  return (
    <Select label="Key" value={own ? 'own' : 'session'} onChange={(event) => setOwnKey(event.target.value === 'own')}
      options={[['session', `Your session: ${member.role} of ${name}`], ['own', 'Another key']]} />
  );
}

const ParameterLabel = ({ parameter: { name, in: place, required } }: { parameter: Parameter }): ReactNode =>
  <><code>{name}</code> in {place}{required && <>{' '}<Required /></>}</>;

// A control for a parameter, with a choice where the values are known.
function Control({ parameter, prism }: { parameter: Parameter; prism: Prism | undefined }) {
  const { name, in: place, required, schema, example } = parameter;
  const { type, format, enum: values, default: ordinary } = deref(schema, useContext(Schemas));
  const versions = name === 'version' && prism
    ? Array.from({ length: prism.latest_version }, (_, at) => String(prism.latest_version - at)) : undefined;
  const choices = versions ?? (type === 'boolean' ? ['true', 'false'] : values?.map(String));
  // The server has nothing of an example's id, and no version with an example's ETag.
  const value = example === undefined || format === 'uuid' || place === 'header' ? '' : versions ? versions[0] : String(example);
  let hint = format === 'date-time' ? '2026-12-31T23:59:59Z' : format ?? '';
  if (choices) hint = 'not sent';
  if (ordinary !== undefined) hint = `${String(ordinary)} (default)`;
  const common = {
    label: <ParameterLabel parameter={parameter} />, name: `${place} ${name}`, required: required ?? false, defaultValue: value,
  };
  if (!choices) return <Input {...common} placeholder={hint} spellCheck={false} autoCapitalize="none" />;
  const options = [['', hint] as const, ...choices.map((choice) => [choice, choice] as const)];
  return <Select {...common} options={options.slice(versions && required ? 1 : 0)} />;
}
