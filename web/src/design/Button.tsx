import { createLink } from '@tanstack/react-router';
import { type AnchorHTMLAttributes, type ButtonHTMLAttributes, type Ref, useEffect, useRef, useState } from 'react';
import './controls.css';
import { Icon, type IconName } from './icons';

interface Look {
  /** `primary`: the one next step of a page or dialog; `danger`: cannot be undone; `quiet`: without a border. */
  variant?: 'primary' | 'secondary' | 'quiet' | 'danger';
  icon?: IconName;
  /** 28 px high instead of 32, for toolbars. */
  small?: boolean;
}

const classOf = ({ variant = 'secondary', small, className }: Look & { className?: string | undefined }) =>
  ['button', variant, small && 'small', className].filter(Boolean).join(' ');

/** A button with a verb. While `busy`, presses do nothing, and assistive technology is told. */
export function Button({
  variant, icon, small, busy, className, children, onClick, type = 'button', ...rest
}: Look & ButtonHTMLAttributes<HTMLButtonElement> & { busy?: boolean; ref?: Ref<HTMLButtonElement> }) {
  return (
    <button {...rest} type={type} className={classOf({ variant, small, className })} aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}

interface AnchorProps extends Look, AnchorHTMLAttributes<HTMLAnchorElement> {
  ref?: Ref<HTMLAnchorElement>;
}

function Anchor({ variant, icon, small, className, children, ...rest }: AnchorProps) {
  return (
    <a {...rest} className={classOf({ variant, small, className })}>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </a>
  );
}

/** A link of the router that looks like a button: `<ButtonLink to="/prisms/new" variant="primary">`. */
export const ButtonLink = createLink(Anchor);

/** Copies a text. `label` names what is copied ("Copy id"); without `children` the label is said to assistive technology only. */
export function Copy({ text, label, children, small = true, variant = 'quiet' }: {
  text: string | (() => string); label: string; children?: React.ReactNode; small?: boolean; variant?: Look['variant'];
}) {
  const [copied, setCopied] = useState(false);
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === 'function' ? text() : text);
    setCopied(true);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" className={classOf({ variant, small, className: 'copy' })} title={label} onClick={() => void copy()}>
      <Icon name={copied ? 'check' : 'copy'} />
      {children ? <span>{copied ? 'Copied' : children}</span> : <span className="unseen">{label}</span>}
      <span className="unseen" role="status">{copied ? 'Copied' : ''}</span>
    </button>
  );
}
