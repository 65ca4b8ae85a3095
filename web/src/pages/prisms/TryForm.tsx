import { type KeyboardEvent, useRef } from 'react';
import type { Problems } from '@/definitions/problems';
import { Button, Input, onKeys, Textarea } from '@/design';
import { isMac } from '@/design/Values';

/** What is typed to be tried. */
export interface Typed {
  fields: Record<string, string>;
  context: string;
  ref: string;
}

export const nothing: Typed = { fields: {}, context: '', ref: '' };

/** The values of the fields that a version has, in its order: others are kept as typed, but not sent. */
export function valuesOf(typed: Typed, fields: { key: string }[]): Record<string, string> {
  return Object.fromEntries(fields.map(({ key }) => [key, typed.fields[key] ?? '']));
}

/** Whether there is a text in one of the fields: a call about nothing costs as much as one about a text. */
export const isFilled = (typed: Typed, fields: { key: string }[]): boolean =>
  Object.values(valuesOf(typed, fields)).some((value) => value.trim() !== '');

interface Props {
  fields: { key: string; label?: string | null }[];
  typed: Typed;
  onType: (typed: Typed) => void;
  onSend: () => void;
  busy: boolean;
  verb: string;
  reason?: string | undefined;
  problems?: Problems;
  withRef?: boolean;
}

/** The fields of a version as a form. `withRef` where a result is stored. */
export function TryForm({ fields, typed, onType, onSend, busy, verb, reason, problems, withRef }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    form.current?.requestSubmit();
  };
  const why = reason ?? (isFilled(typed, fields) ? undefined : 'Type a text first.');
  const more = Boolean(typed.context || typed.ref || problems?.has('context') || problems?.has('ref'));
  return (
    <form ref={form} className="stack" onKeyDown={onKeys(onKey)}
      onSubmit={(event) => { event.preventDefault(); if (!busy && !why) onSend(); }}>
      {fields.map(({ key, label }) => (
        <Textarea key={key} className="grows"
          label={<>{label || key}{label && label !== key && <code className="soft key-hint">{key}</code>}</>}
          rows={fields.length === 1 ? 6 : 2} value={typed.fields[key] ?? ''} error={problems?.get(`fields.${key}`)}
          onChange={(event) => onType({ ...typed, fields: { ...typed.fields, [key]: event.target.value } })} />
      ))}
      <details className="more" open={more || undefined}>
        <summary>{withRef ? 'Context and reference' : 'Context'}</summary>
        <div className="stack">
          <Textarea className="grows" label="Context" rows={2} value={typed.context} error={problems?.get('context')}
            hint="What the model should know beside the fields."
            onChange={(event) => onType({ ...typed, context: event.target.value })} />
          {withRef && (
            <Input label="Reference (ref)" value={typed.ref} maxLength={200} error={problems?.get('ref')}
              hint="Your own name for the call, kept with the result."
              onChange={(event) => onType({ ...typed, ref: event.target.value })} />
          )}
        </div>
      </details>
      <div className="row">
        <Button type="submit" variant="primary" icon="play" busy={busy} disabled={Boolean(why)}
          title={`${isMac ? '⌘' : 'Ctrl'} Enter`}
          aria-keyshortcuts="Meta+Enter Control+Enter">{busy ? 'Asking the model' : verb}</Button>
        {why && <span className="soft">{why}</span>}
      </div>
    </form>
  );
}
