import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { Icon, type IconName } from './icons';
import './overlay.css';

interface Props {
  /** Names what opens, and the button if it has no words. */
  label: string;
  button: ReactNode;
  icon?: IconName;
  className?: string;
  /** What is in it, while it is open. */
  children: (close: () => void) => ReactNode;
  onClose?: () => void;
  align?: 'start' | 'end';
  ref?: React.Ref<HTMLButtonElement>;
}

/** A button that opens a few controls beside it; on a phone, a sheet at the bottom of the window. */
export function Popover({ label, button, icon, className = 'button secondary', children, onClose, align = 'start', ref }: Props) {
  const id = useId();
  const anchor = useRef<HTMLElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const place = () => {
    const at = anchor.current!.getBoundingClientRect();
    const { style, offsetWidth } = box.current!;
    const left = align === 'end' ? at.right - offsetWidth : at.left;
    style.left = `${Math.max(8, Math.min(left, innerWidth - offsetWidth - 8))}px`;
    style.top = `${at.bottom + 4}px`;
    style.maxHeight = `${Math.max(240, innerHeight - at.bottom - 16)}px`;
  };
  return (
    <span className="pop-anchor" ref={anchor}>
      <button ref={ref} type="button" className={className} popoverTarget={id} aria-haspopup="dialog" aria-expanded={open}>
        {icon && <Icon name={icon} />}
        {button}
      </button>
      <div ref={box} id={id} popover="auto" role="dialog" aria-label={label} className="pop" data-open={open || undefined}
        onToggle={(event) => {
          const opened = event.newState === 'open';
          setOpen(opened);
          if (opened) place();
          else onClose?.();
        }}>
        {open && <Focused>{children(() => box.current?.hidePopover())}</Focused>}
      </div>
    </span>
  );
}

/** Gives the focus to the first control. */
function Focused({ children }: { children: ReactNode }) {
  const body = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => body.current?.querySelector<HTMLElement>('input, select, button')?.focus(), []);
  return <div className="pop-body" ref={body}>{children}</div>;
}
