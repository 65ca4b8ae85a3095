import { type KeyboardEvent, useState } from 'react';
import { Input, onKeys, useTyped } from '@/design';
import { partOf, typedPart } from './conditions';

interface Props {
  label: string;
  value: string | undefined;
  onValue: (value: string | undefined) => void;
}

/** A probability that is typed as a percentage. */
export function Part({ label, value, onValue }: Props) {
  const [typed, setTyped] = useState(typedPart(value));
  const part = partOf(typed);
  const wrong = typed.trim() !== '' && part === undefined;
  const tell = () => {
    const next = part === undefined ? undefined : String(part);
    if (!wrong && next !== value) onValue(next);
  };
  const onKey = (event: KeyboardEvent) => { if (event.key === 'Enter') tell(); };
  return (
    <Input label={label} inputMode="decimal" placeholder={label === 'From' ? '0' : '100'} {...useTyped(typed, setTyped)}
      onBlur={tell} error={wrong ? '0 to 100' : undefined} onKeyDown={onKeys(onKey)} />
  );
}
