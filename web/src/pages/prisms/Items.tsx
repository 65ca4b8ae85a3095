import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { Button, Icon, type IconName, onKeys } from '@/design';
import { moved } from './model';
import { useDrag } from './useDrag';

/** A small button whose words are in its title and for assistive technology. */
function Small({ icon, label, className = '', ...rest }: {
  icon: IconName; label: string; className?: string; disabled?: boolean; onClick: () => void;
}) {
  return (
    <button type="button" className={`button quiet small ${className}`} title={label} {...rest}>
      <Icon name={icon} />
      <span className="unseen">{label}</span>
    </button>
  );
}

const many = 40; // items from which on those out of view are not drawn

interface Props<T extends { id: string }> {
  items: T[];
  onChange: (items: T[]) => void;
  /** `option`; with the item's name for assistive technology. */
  noun: string;
  nameOf: (item: T) => string;
  /** `update` replaces the item; `buttons` move and remove it. */
  children: (item: T, index: number, update: (item: T) => void, buttons: ReactNode) => ReactNode;
  /** `enter`: Enter in an input of an item adds one below it. */
  add?: { label: string; make: () => T; most: number; enter?: boolean };
  error?: string | undefined;
  disabled?: boolean | undefined;
}

/**
 * A list of which items are moved by dragging, by buttons or by Alt and the arrow keys, removed and added, without losing the
 * focus.
 */
export function Items<T extends { id: string }>({ items, onChange, noun, nameOf, children, add, error, disabled }: Props<T>) {
  const [said, setSaid] = useState('');
  const name = (item: T) => nameOf(item) || 'without a name';
  const move = (index: number, by: number) => {
    const next = moved(items, index, by);
    if (next === items) return;
    setSaid(`${noun} ${name(items[index]!)} is now ${index + by + 1} of ${items.length}`);
    onChange(next);
  };
  const list = useRef<HTMLOListElement>(null);
  const { held, hold } = useDrag(list, items.map(({ id }) => id), move);
  const insert = (at: number) => {
    if (!add || items.length >= add.most) return;
    const made = add.make();
    onChange([...items.slice(0, at), made, ...items.slice(at)]);
    focusIn(made.id);
  };
  const onKey = (event: KeyboardEvent, index: number) => {
    if (event.key === 'Enter' && add?.enter && !disabled && event.target instanceof HTMLInputElement) {
      event.preventDefault();
      event.stopPropagation();
      return insert(index + 1);
    }
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || by === undefined || disabled) return;
    event.preventDefault();
    event.stopPropagation(); // of an option its question must not move too
    move(index, by);
  };
  return (
    <div className="items">
      <ol ref={list} className={`items-list of-${noun}s${items.length > many ? ' many' : ''}`}>
        {items.map((item, index) => (
          <li key={item.id} id={item.id} className={held === item.id ? 'held' : undefined}
            onKeyDown={onKeys((event) => onKey(event, index))}>
            {children(item, index, (next) => onChange(items.map((one) => (one.id === next.id ? next : one))), !disabled && (
              <span className="item-buttons">
                {items.length > 1 && (
                  // Not for the keyboard, which has the buttons beside it.
                  <span className="handle" title={`Drag ${noun} ${name(item)}`} aria-hidden="true"
                    onPointerDown={(event) => { if (event.button === 0) { event.preventDefault(); hold(item.id); } }}>
                    <Icon name="drag" />
                  </span>
                )}
                <Small icon="up" className="step" label={`Move ${noun} ${name(item)} up`} disabled={index === 0}
                  onClick={() => move(index, -1)} />
                <Small icon="down" className="step" label={`Move ${noun} ${name(item)} down`}
                  disabled={index === items.length - 1} onClick={() => move(index, 1)} />
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
        <Button small icon="plus" className="add" disabled={items.length >= add.most} onClick={() => insert(items.length)}>
          {add.label}
        </Button>
      )}
      <span className="unseen" role="status">{said}</span>
    </div>
  );
}

/** Puts the focus on the first control of an item, once it is there. */
function focusIn(id: string | undefined) {
  if (id) requestAnimationFrame(() => {
    const item = document.getElementById(id);
    (item?.querySelector<HTMLElement>('input, textarea, select') ?? item?.querySelector('button'))?.focus();
  });
}
