import { type KeyboardEvent, type ReactNode, type Ref, useEffect, useId, useMemo, useRef, useState } from 'react';
import { Field } from './Field';
import { find, type Findable } from './finding';
import './finder.css';
import { Icon } from './icons';
import { onKeys, useTyped } from './keys';
import { shown } from './numbers';
import { Kbd } from './Values';


const page = 8; // items that a page key goes over

/** What is typed to find one of some items, and which of those found is the one that Enter takes. */
function useFinding<T extends Findable>(items: readonly T[], onChoose: (item: T) => void) {
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(-1);
  const found = useMemo(() => find(items, text), [items, text]);
  const current = Math.min(at, found.length - 1);
  const clear = () => { setText(''); setAt(-1); };
  const typed = useTyped(text, (next) => { setText(next); setAt(next.trim() ? 0 : -1); });
  const idOf = (place: number) => `${id}-${place}`;
  const go = (place: number) => {
    setAt(place);
    document.getElementById(idOf(place))?.scrollIntoView?.({ block: 'nearest' });
  };
  const choose = (item: T | undefined) => {
    if (!item) return;
    clear();
    onChoose(item);
  };
  /** Whether a key was one of those that choose. */
  const onKey = (event: KeyboardEvent): boolean => {
    const last = found.length - 1;
    const to = {
      ArrowDown: current >= last ? 0 : current + 1, ArrowUp: current <= 0 ? last : current - 1,
      PageDown: Math.min(last, current + page), PageUp: Math.max(0, current - page),
    }[event.key];
    if (to === undefined && !(event.key === 'Enter' && (current >= 0 || text))) return false;
    event.preventDefault();
    if (to === undefined) choose(found[current]);
    else if (last >= 0) go(to);
    return true;
  };
  return { id, idOf, text, typed, found, current, clear, choose, onKey };
}

interface ItemsProps<T extends Findable> {
  label: string;
  of: ReturnType<typeof useFinding<T>>;
  /** The value of the chosen item, or those of any number of them. */
  chosen: string | readonly string[] | undefined;
  /** What stands before the label of an item, and at its end. */
  mark?: ((item: T) => ReactNode) | undefined;
  note?: ((item: T) => ReactNode) | undefined;
  /** A list that opens has the chosen one in view. */
  opens?: boolean;
}

function Found<T extends Findable>({
  label, of: { id, idOf, found, current, choose, text }, chosen, mark, note, opens = false,
}: ItemsProps<T>) {
  const list = useRef<HTMLUListElement>(null);
  const several = typeof chosen === 'object';
  // Other items are found: the best one is at the top.
  useEffect(() => {
    const first = opens && !text ? list.current?.querySelector<HTMLElement>('[aria-selected="true"]') : undefined;
    if (list.current) list.current.scrollTop = first?.offsetTop ?? 0;
  }, [opens, text]);
  return (
    <ul ref={list} className="finder-list" role="listbox" id={`${id}-list`} aria-label={label}
      aria-multiselectable={several || undefined}>
      {found.map((item, i) => (
        // The input keeps the focus and the keys.
        <li key={item.value} id={idOf(i)} role="option"
          aria-selected={several ? chosen.includes(item.value) : item.value === chosen}
          data-current={i === current || undefined} onMouseDown={(event) => event.preventDefault()} onClick={() => choose(item)}>
          {mark?.(item)}
          <span className="grow">{item.label}{item.more && <span className="soft"> {item.more}</span>}</span>
          {note?.(item)}
        </li>
      ))}
    </ul>
  );
}

const roles = ({ id, idOf, current }: Pick<ReturnType<typeof useFinding>, 'id' | 'idOf' | 'current'>, expanded: boolean) => ({
  role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': expanded, 'aria-controls': `${id}-list`, spellCheck: false,
  'aria-activedescendant': expanded && current >= 0 ? idOf(current) : undefined, autoComplete: 'off',
} as const);

interface FinderProps<T extends Findable> extends Pick<ItemsProps<T>, 'mark' | 'note'> {
  label: string;
  items: readonly T[];
  chosen: ItemsProps<T>['chosen'];
  onChoose: (item: T) => void;
  ref?: Ref<HTMLInputElement> | undefined;
  describedBy?: string | undefined;
  /** The keys of the page that lead to the input. */
  keys?: string;
  onFocus?: () => void;
  /** Escape where nothing is typed. */
  onLeave?: () => void;
  /** The arrows to the sides where nothing is typed. */
  onSide?: (by: -1 | 1) => void;
}

/** Many items in a list that stays, and an input that finds one: type, choose by the arrows, and take it by Enter. */
export function Finder<T extends Findable>({
  label, items, chosen, onChoose, mark, note, ref, describedBy, keys, onFocus, onLeave, onSide,
}: FinderProps<T>) {
  const of = useFinding(items, onChoose);
  const { text, typed, found, clear } = of;
  const onKey = (event: KeyboardEvent) => {
    if (of.onKey(event)) return;
    const side = ({ ArrowLeft: -1, ArrowRight: 1 } as const)[event.key];
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      if (text) clear();
      else onLeave?.();
    } else if (side && !text && onSide) {
      event.preventDefault();
      onSide(side);
    }
  };
  return (
    <div className="finder">
      <input ref={ref} className="input" aria-label={label} placeholder="Type to find" {...typed} {...roles(of, true)}
        aria-describedby={describedBy} onFocus={onFocus} onKeyDown={onKeys(onKey)} />
      <Found label={label} of={of} {...{ chosen, mark, note }} />
      <div className="row finder-foot">
        <p className="soft num" role="status">
          {text ? `${shown(found.length)} of ${shown(items.length)}` : `${shown(items.length)} to choose from`}
        </p>
        {keys && <Kbd keys={keys} />}
      </div>
    </div>
  );
}

interface PickProps {
  label: string;
  hint?: ReactNode;
  error?: ReactNode;
  hideLabel?: boolean | undefined;
  className?: string | undefined;
  disabled?: boolean;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
  onBlur?: () => void;
  'data-at'?: string;
}

/** A select of so many options that one is found by its words: typing, a press or an arrow opens the list. */
export function Pick({
  label, hint, error, hideLabel, className, disabled, value, options, onChange, onBlur, ...rest
}: PickProps) {
  const [open, setOpen] = useState(false);
  const items = useMemo(() => options.map(([key, words]): Findable => ({ value: key, label: words })), [options]);
  const of = useFinding(items, (item) => { setOpen(false); onChange(item.value); });
  const now = items.find((item) => item.value === value)?.label ?? value;
  const close = () => { setOpen(false); of.clear(); };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && open) {
      event.preventDefault();
      event.stopPropagation();
      return close();
    }
    if (of.onKey(event)) setOpen(event.key !== 'Enter');
  };
  return (
    <Field label={label} hint={hint} error={error} hideLabel={hideLabel ?? false} className={className}>
      {(ids) => (
        <span className="finder-pick">
          <input {...rest} {...ids} className="input" disabled={disabled} placeholder={open ? now : undefined} {...of.typed}
            value={open ? of.typed.value : now} {...roles(of, open)}
            onChange={(event) => { setOpen(true); of.typed.onChange(event); }}
            onFocus={(event) => event.currentTarget.select()} onClick={() => setOpen(true)}
            onBlur={() => { close(); onBlur?.(); }} onKeyDown={onKeys(onKey)} />
          <Icon name="down" />
          {open && <Found label={label} of={of} chosen={value} opens />}
        </span>
      )}
    </Field>
  );
}
