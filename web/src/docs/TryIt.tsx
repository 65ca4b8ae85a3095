import { type FormEvent, useContext, useRef, useState } from 'react';
import { Button } from '@/design/Button';
import { Input, Select, Textarea } from '@/design/Field';
import { deref, type Operation, type Parameter } from './document';
import { keyInput, typedKey } from './key';
import { pretty } from './layout';
import { Listing } from './Listing';
import { Required, Schemas } from './Members';
import { send, type Sent } from './send';
import { StatusCode } from './StatusCode';

/** A form that sends the call to the server that the page comes from. */
export function TryIt({ operation }: { operation: Operation }) {
  const { method, path, parameters, body, needsKey, summary } = operation;
  const examples = body?.examples.map(({ summary: words, value }) => ({ words, text: typeof value === 'string' ? value : pretty(value) })) ?? [];
  const [text, setText] = useState(examples[0]?.text ?? '');
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
        method, path, key: needsKey ? typedKey() : undefined, body: body && { type: body.type, text },
        parameters: parameters.map(({ name, in: place }) => ({ name, in: place, value: String(data.get(`${place} ${name}`) ?? '') })),
      }));
    } finally {
      waiting.current = false;
      setBusy(false);
    }
  };
  return (
    <form className="try-form" aria-label={`Try it: ${summary}`} autoComplete="off" onSubmit={(event) => void submit(event)}>
      <div className="try-fields">
        {needsKey && (
          <Input ref={(input) => (input ? keyInput(input) : undefined)} type="password" label={<>API key <Required /></>} placeholder="prism_…"
            required spellCheck={false} autoComplete="off" />
        )}
        {parameters.map((parameter) => <Parameter key={`${parameter.in} ${parameter.name}`} parameter={parameter} />)}
        {examples.length > 1 && (
          <Select label="Example of a body" defaultValue={0} onChange={(event) => setText(examples[Number(event.target.value)]!.text)}
            options={examples.map(({ words }, at) => [String(at), words.replaceAll('`', '')])} />
        )}
      </div>
      {body && (
        <Textarea label="Body" mono rows={Math.min(24, Math.max(...examples.map((each) => each.text.split('\n').length)))} spellCheck={false}
          value={text} onChange={(event) => setText(event.target.value)} />
      )}
      <div className="row">
        <Button type="submit" variant="primary" busy={busy}>Send</Button>
        <p className="soft try-note">A real call to the server that this page comes from.{needsKey && ' The key stays in the memory of this page.'}</p>
      </div>
      <p role="status" className="outcome">
        {busy && 'Waiting for the answer…'}
        {sent?.status && <><StatusCode code={String(sent.status.code)} /> {sent.status.words} </>}
        {sent?.outcome}
      </p>
      {sent?.status && (
        <div className="reply">
          {sent.headers && <pre className="heads" tabIndex={0} role="group" aria-label="Headers of the answer">{sent.headers}</pre>}
          {sent.text && <Listing label="Answer" text={sent.text} isJson={sent.type.startsWith('application/json') && isWhole(sent.text)} />}
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

// A control for a parameter, with a choice where the values are known.
function Parameter({ parameter: { name, in: place, required, schema, example } }: { parameter: Parameter }) {
  const { type, format, enum: values, default: ordinary } = deref(schema, useContext(Schemas));
  const choices = type === 'boolean' ? ['true', 'false'] : values?.map(String);
  // The server has nothing of an example's id, and no version with an example's ETag.
  const value = example === undefined || format === 'uuid' || place === 'header' ? '' : String(example);
  let hint = format === 'date-time' ? '2026-12-31T23:59:59Z' : format ?? '';
  if (choices) hint = 'not sent';
  if (ordinary !== undefined) hint = `${String(ordinary)} (default)`;
  const label = <><code>{name}</code> in {place}{required && <>{' '}<Required /></>}</>;
  const common = { label, name: `${place} ${name}`, required: required ?? false, defaultValue: value };
  return choices
    ? <Select {...common} options={[['', hint], ...choices.map((choice) => [choice, choice] as const)]} />
    : <Input {...common} placeholder={hint} spellCheck={false} autoCapitalize="none" />;
}
