import { type KeyboardEvent, memo, type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { moved } from '@/definitions/model';
import { Button, Icon, type IconName, onKeys } from '@/design';
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
  /**
   * What `children` draws from beside the item and its place. With it, an item is drawn again only when one of them changes, so
   * that typing in one of 255 takes no longer than in one of two: what `children` does on events has to look up the rest then.
   */
  uses?: readonly unknown[];
}

/**
 * A list of which items are moved by dragging, by buttons or by Alt and the arrow keys, removed and added, without losing the
 * focus.
 */
export function Items<T extends { id: string }>({
  items, onChange, noun, nameOf, children, add, error, disabled, uses,
}: Props<T>) {
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
  const act = useRef<Act<T>>(undefined!);
  useLayoutEffect(() => {
    act.current = {
      move, onKey, hold, update: (next) => onChange(items.map((one) => (one.id === next.id ? next : one))),
      remove: (index) => {
        const next = items.filter((_, i) => i !== index);
        setSaid(`${noun} ${name(items[index]!)} removed`);
        onChange(next);
        focusIn(next[Math.min(index, next.length - 1)]?.id);
      },
    };
  });
  return (
    <div className="items">
      <ol ref={list} className={`items-list of-${noun}s${items.length > many ? ' many' : ''}`}>
        {items.map((item, index) => (
          <Row key={item.id} item={item} index={index} last={index === items.length - 1} held={held === item.id} uses={uses}
            disabled={disabled ?? false} label={`${noun} ${name(item)}`} act={act} render={children} />
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

/** What is done to the items that there are now, also by a row that was drawn before. */
interface Act<T> {
  move: (index: number, by: number) => void;
  remove: (index: number) => void;
  update: (item: T) => void;
  onKey: (event: KeyboardEvent, index: number) => void;
  hold: (id: string) => void;
}

interface RowProps<T extends { id: string }> {
  item: T;
  index: number;
  last: boolean;
  held: boolean;
  disabled: boolean;
  /** The item with its noun. */
  label: string;
  uses: readonly unknown[] | undefined;
  act: RefObject<Act<T>>;
  render: Props<T>['children'];
}

function DrawnRow<T extends { id: string }>({ item, index, last, held, disabled, label, act, render }: RowProps<T>) {
  return (
    <li id={item.id} className={held ? 'held' : undefined} onKeyDown={onKeys((event) => act.current.onKey(event, index))}>
      {render(item, index, (next) => act.current.update(next), !disabled && (
        <span className="item-buttons">
          {!(index === 0 && last) && (
            // Not for the keyboard, which has the buttons beside it.
            <span className="handle" title={`Drag ${label}`} aria-hidden="true"
              onPointerDown={(event) => { if (event.button === 0) { event.preventDefault(); act.current.hold(item.id); } }}>
              <Icon name="drag" />
            </span>
          )}
          <Small icon="up" className="step" label={`Move ${label} up`} disabled={index === 0}
            onClick={() => act.current.move(index, -1)} />
          <Small icon="down" className="step" label={`Move ${label} down`} disabled={last}
            onClick={() => act.current.move(index, 1)} />
          <Small icon="trash" label={`Remove ${label}`} onClick={() => act.current.remove(index)} />
        </span>
      ))}
    </li>
  );
}

const Row = memo(DrawnRow, (a, b) =>
  b.uses !== undefined && b.uses.every((one, i) => Object.is(one, a.uses?.[i])) && a.item === b.item && a.index === b.index
  && a.last === b.last && a.held === b.held && a.disabled === b.disabled) as typeof DrawnRow;

/** Puts the focus on the first control of an item, once it is there. */
function focusIn(id: string | undefined) {
  if (id) requestAnimationFrame(() => {
    const item = document.getElementById(id);
    (item?.querySelector<HTMLElement>('input, textarea, select') ?? item?.querySelector('button'))?.focus();
  });
}
