import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './Button';
import { editable, layered, onPageKeys } from './keys';
import './overlay.css';

/** A table and the panel of its open row: `<Split><Table …/>{row && <Panel …/>}</Split>`. */
export function Split({ children }: { children: ReactNode }) {
  return <div className="split">{children}</div>;
}

interface PanelProps {
  title: ReactNode;
  onClose: () => void;
  onPrevious?: (() => void) | undefined;
  onNext?: (() => void) | undefined;
  actions?: ReactNode;
  children: ReactNode;
}

/** Shows the open row beside its table, over it on phones. Esc closes; previous and next are undefined at the ends. */
export function Panel({ title, onClose, onPrevious, onNext, actions, children }: PanelProps) {
  const id = useId();
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || layered() || editable(event.target)) return;
      close.current();
      // The open row gets the focus back.
      document.querySelector<HTMLElement>('tr[aria-current="true"]')?.focus();
    };
    return onPageKeys(onKey);
  }, []);
  return (
    <aside className="panel" aria-labelledby={id}>
      <header className="panel-head">
        <h2 id={id}>{title}</h2>
        {(onPrevious || onNext) && (
          <>
            <Button variant="quiet" small icon="up" disabled={!onPrevious} onClick={onPrevious}>Previous</Button>
            <Button variant="quiet" small icon="down" disabled={!onNext} onClick={onNext}>Next</Button>
          </>
        )}
        <Button variant="quiet" small icon="close" onClick={onClose}>Close</Button>
      </header>
      <div className="panel-body stack">{children}</div>
      {actions && <footer className="dialog-actions">{actions}</footer>}
    </aside>
  );
}
