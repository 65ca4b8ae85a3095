import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { Icon, type IconName } from './icons';
import { onKeys } from './keys';
import './overlay.css';

export interface MenuItem {
  label: ReactNode;
  icon?: IconName;
  /** Cannot be undone. */
  danger?: boolean;
  checked?: boolean;
  disabled?: boolean;
  onSelect: () => void;
}

/** A button that opens a list of actions. `label` names it for assistive technology if `children` do not. */
export function Menu({ label, items, children, icon, className = 'button secondary', align = 'end' }: {
  label: string; items: (MenuItem | 'line')[]; children?: ReactNode; icon?: IconName; className?: string; align?: 'start' | 'end';
}) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);

  const place = () => {
    const at = button.current!.getBoundingClientRect();
    const { style, offsetWidth, offsetHeight } = list.current!;
    const left = align === 'end' ? at.right - offsetWidth : at.left;
    const below = at.bottom + 4 + offsetHeight <= innerHeight || at.top < offsetHeight + 8;
    style.left = `${Math.max(8, Math.min(left, innerWidth - offsetWidth - 8))}px`;
    style.top = `${below ? at.bottom + 4 : at.top - offsetHeight - 4}px`;
  };
  const focus = (index: number) => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>('button:not(:disabled)') ?? [])];
    all[(index + all.length) % all.length]?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>('button:not(:disabled)') ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    focus(to);
  };
  return (
    <>
      <button ref={button} type="button" className={className} popoverTarget={id} aria-haspopup="menu" aria-expanded={open}
        aria-label={children ? undefined : label}>
        {icon && <Icon name={icon} />}
        {children}
      </button>
      <div ref={list} id={id} popover="auto" role="menu" aria-label={label} className="menu" data-open={open || undefined}
        onKeyDown={onKeys(onKey)}
        onToggle={(event) => {
          const opened = event.newState === 'open';
          setOpen(opened);
          if (opened) { place(); focus(0); }
        }}>
        {items.map((item, index) => item === 'line' ? <hr key={index} /> : (
          <button key={index} type="button" role={item.checked === undefined ? 'menuitem' : 'menuitemradio'}
            aria-checked={item.checked}
            className={item.danger ? 'danger' : undefined} disabled={item.disabled}
            onClick={() => { list.current?.hidePopover(); item.onSelect(); }}>
            {item.icon && <Icon name={item.icon} />}
            <span>{item.label}</span>
            {item.checked && <Icon name="check" />}
          </button>
        ))}
      </div>
    </>
  );
}
