import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Button } from './Button';
import './overlay.css';

interface Props {
  open: boolean;
  /** Esc, the close button, or a press beside the dialog. */
  onClose: () => void;
  title: ReactNode;
  children: ReactNode;
  /** Buttons at the end, the next step last. */
  actions?: ReactNode;
  /** Keeps a press beside the dialog from closing it: for typed text, and for what is shown once. */
  firm?: boolean;
  wide?: boolean;
  /** Makes the body and actions a form. */
  onSubmit?: () => void;
}

/** A modal dialog. What it shows leaves the document when it closes, and the focus goes back to where it was. */
export function Dialog({ open, ...rest }: Props) {
  return open ? <Open {...rest} /> : null;
}

function Open({ onClose, title, children, actions, firm, wide, onSubmit }: Omit<Props, 'open'>) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // In the layout phase, so that no frame shows the dialog closed.
  useLayoutEffect(() => {
    const dialog = ref.current!;
    const before = document.activeElement;
    dialog.showModal();
    // What is longer than the window is scrolled by keys, also where it has nothing else to focus.
    const body = dialog.querySelector<HTMLElement>('.dialog-body')!;
    if (!body.querySelector('a, button, input, select, textarea, [tabindex]')) body.tabIndex = 0;
    // The first field, else the next step, else what changes nothing: not the button that closes, which a second Enter would
    // press.
    (dialog.querySelector<HTMLElement>('.dialog-body :is(input, select, textarea):enabled')
      ?? dialog.querySelector<HTMLElement>('.dialog-actions .primary:enabled')
      ?? dialog.querySelector<HTMLElement>('.dialog-actions button:enabled'))?.focus();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const content = (
    <>
      <header className="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button variant="quiet" small icon="close" className="dialog-close" onClick={onClose}>Close</Button>
      </header>
      <div className="dialog-body">{children}</div>
      {actions && <footer className="dialog-actions">{actions}</footer>}
    </>
  );
  return (
    <dialog ref={ref} className={wide ? 'dialog wide' : 'dialog'} aria-labelledby={id}
      onCancel={(event) => { event.preventDefault(); onClose(); }}
      onMouseDown={(event) => { if (!firm && event.target === ref.current) onClose(); }}>
      {onSubmit
        ? <form className="dialog-form" noValidate onSubmit={(event) => { event.preventDefault(); onSubmit(); }}>{content}</form>
        : <div className="dialog-form">{content}</div>}
    </dialog>
  );
}

interface ConfirmProps {
  open: boolean;
  onClose: () => void;
  onConfirm: () => void;
  title: string;
  verb: string;
  keep?: string;
  busy?: boolean;
  error?: ReactNode;
  children: ReactNode;
}

/**
 * Asks before what cannot be undone. The title names the object ("Revoke key production?"), the button the verb, and `keep` what
 * changes nothing.
 */
export function Confirm({ open, onClose, onConfirm, title, verb, keep = 'Cancel', busy, error, children }: ConfirmProps) {
  return (
    <Dialog open={open} onClose={onClose} title={title} actions={
      <>
        <Button onClick={onClose}>{keep}</Button>
        <Button variant="danger" busy={busy ?? false} onClick={onConfirm}>{verb}</Button>
      </>
    }>
      <div className="stack">{children}{error}</div>
    </Dialog>
  );
}
