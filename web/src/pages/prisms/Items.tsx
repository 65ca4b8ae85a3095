import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { Button, Icon, type IconName, onKeys } from '@/design';
import { moved } from './model';

/** A small button whose words are in its title and for assistive technology. */
function Small({ icon, label, ...rest }: { icon: IconName; label: string; disabled?: boolean; onClick: () => void }) {
  return (
    <button type="button" className="button quiet small" title={label} {...rest}>
      <Icon name={icon} />
      <span className="unseen">{label}</span>
    </button>
  );
}

interface Props<T extends { id: string }> {
  items: T[];
  onChange: (items: T[]) => void;
  /** `option`; with the item's name for assistive technology. */
  noun: string;
  nameOf: (item: T) => string;
  /** `update` replaces the item; `buttons` move and remove it. */
  children: (item: T, index: number, update: (item: T) => void, buttons: ReactNode) => ReactNode;
  add?: { label: string; make: () => T; most: number };
  error?: string | undefined;
  disabled?: boolean | undefined;
}

/** A list of which items are moved by buttons or Alt and the arrow keys, removed and added, without losing the focus. */
export function Items<T extends { id: string }>({ items, onChange, noun, nameOf, children, add, error, disabled }: Props<T>) {
  const [said, setSaid] = useState('');
  const name = (item: T) => nameOf(item) || `without a key`;
  const move = (index: number, by: number) => {
    const next = moved(items, index, by);
    if (next === items) return;
    setSaid(`${noun} ${name(items[index]!)} is now ${index + by + 1} of ${items.length}`);
    onChange(next);
  };
  const onKey = (event: KeyboardEvent, index: number) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || by === undefined || disabled) return;
    event.preventDefault();
    event.stopPropagation(); // of an option its question must not move too
    move(index, by);
  };
  return (
    <div className="items">
      <ol className={`items-list of-${noun}s`}>
        {items.map((item, index) => (
          <li key={item.id} id={item.id} onKeyDown={onKeys((event) => onKey(event, index))}>
            {children(item, index, (next) => onChange(items.map((one) => (one.id === next.id ? next : one))), !disabled && (
              <span className="item-buttons">
                <Small icon="up" label={`Move ${noun} ${name(item)} up`} disabled={index === 0} onClick={() => move(index, -1)} />
                <Small icon="down" label={`Move ${noun} ${name(item)} down`} disabled={index === items.length - 1}
                  onClick={() => move(index, 1)} />
                <Small icon="trash" label={`Remove ${noun} ${name(item)}`} onClick={() => {
                  const next = items.filter((one) => one.id !== item.id);
                  setSaid(`${noun} ${name(item)} removed`);
                  onChange(next);
                  focusIn(next[Math.min(index, next.length - 1)]?.id);
                }} />
              </span>
            ))}
          </li>
        ))}
      </ol>
      {error && <p className="field-error" role="status"><Icon name="bad" />{error}</p>}
      {add && !disabled && (
        <Button small icon="plus" className="add" disabled={items.length >= add.most} onClick={() => {
          const made = add.make();
          onChange([...items, made]);
          focusIn(made.id);
        }}>{add.label}</Button>
      )}
      <span className="unseen" role="status">{said}</span>
    </div>
  );
}

/** Puts the focus on the first control of an item, once it is there. */
function focusIn(id: string | undefined) {
  if (id) requestAnimationFrame(() =>
    document.getElementById(id)?.querySelector<HTMLElement>('input, textarea, select, button')?.focus());
}
