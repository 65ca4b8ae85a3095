import { type ClipboardEvent, createContext, type ReactNode, useContext, useState } from 'react';
import { idOf, type Problems } from '@/definitions/problems';
import { afterPress, Input, Pick, Select, Textarea } from '@/design';

interface Editing {
  problems: Problems;
  /** Problems of places that nobody typed in are shown too, as after an attempt to save. */
  all: boolean;
  disabled: boolean;
}

const Context = createContext<Editing>({ problems: new Map(), all: false, disabled: false });

const alike = (a: Editing, b: Editing) => a.all === b.all && a.disabled === b.disabled && a.problems.size === b.problems.size
  && [...a.problems].every(([path, text]) => b.problems.get(path) === text);

/** Tells the controls of a definition its problems. While they are the same, no control is drawn again for them. */
export function EditingProvider({ value, children }: { value: Editing; children: ReactNode }) {
  const [told, setTold] = useState(value);
  const next = alike(told, value) ? told : value;
  if (next !== told) setTold(next);
  return <Context.Provider value={next}>{children}</Context.Provider>;
}

export const useEditing = (): Editing => useContext(Context);

interface Props {
  label: string;
  hideLabel?: boolean;
  hint?: ReactNode;
  /** Where the value stands in the definition, as the API names it. */
  path: string;
  value: string;
  onChange: (value: string) => void;
  className?: string;
  placeholder?: string;
}

/** The problem of a path, once something was typed there or it was left empty. */
function useProblem(path: string, value: string) {
  const { problems, all } = useEditing();
  const [left, setLeft] = useState(false);
  const problem = problems.get(path);
  return { error: all || left || value ? problem : undefined, onBlur: () => afterPress(() => setLeft(true)) };
}

interface TextProps extends Props {
  long?: boolean;
  mono?: boolean;
  inputMode?: 'decimal';
  maxLength?: number | undefined;
  /** The id of a list of texts that are proposed. */
  list?: string;
  onPaste?: (event: ClipboardEvent) => void;
}

/** An input of a definition, with its problem beside it. */
export function Text({ path, value, onChange, long, mono, inputMode, ...rest }: TextProps) {
  const { error, onBlur } = useProblem(path, value);
  const { disabled } = useEditing();
  const all = { ...rest, error, onBlur, value, disabled, 'data-at': idOf(path) };
  if (long) return (
    <Textarea {...all} rows={1} className={`grows ${rest.className ?? ''}`} onChange={(event) => onChange(event.target.value)} />
  );
  return (
    <Input {...all} className={`${mono ? 'keyed' : ''} ${rest.className ?? ''}`} spellCheck={!mono} inputMode={inputMode}
      onChange={(event) => onChange(event.target.value)} />
  );
}

const most = 30; // options of a native select; of more, one is found by its words

export function Choice({ path, value, onChange, options, ...rest }: Props & { options: readonly (readonly [string, string])[] }) {
  const { error, onBlur } = useProblem(path, value);
  const { disabled } = useEditing();
  const all = { ...rest, error, onBlur, value, disabled, options, 'data-at': idOf(path) };
  if (options.length > most) return <Pick {...all} onChange={onChange} />;
  return <Select {...all} onChange={(event) => onChange(event.target.value)} />;
}

/** Puts the focus on the control of a path, or of the nearest one above it. */
export function focusAt(path: string): void {
  const steps = path.split('.');
  for (let n = steps.length; n > 0; n--) {
    const at = idOf(steps.slice(0, n).join('.'));
    const found = document.querySelector<HTMLElement>(`[data-at="${at}"], [data-at^="${at}-"]`);
    if (found) return found.focus();
  }
}
