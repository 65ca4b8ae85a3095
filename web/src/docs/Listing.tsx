import { useEffect, useId, useState } from 'react';
import { Copy } from '@/design/Button';
import '@/design/feedback.css';
import { onKeys } from '@/design/keys';
import type { Operation } from './document';
import { setLanguage, useLanguage } from './language';
import { highlight, layout, plain, type Token } from './layout';
import { type Language, languages, sample } from './samples';
import { useTarget } from './target';

function Tokens({ tokens }: { tokens: Token[] }) {
  return tokens.map(({ kind, text }, at) => (kind === 'plain' ? text : <span key={at} className={`t-${kind}`}>{text}</span>));
}

/** A text with a button to copy it; JSON is indented and coloured. */
export function Listing({ label, text, isJson }: { label: string; text: string; isJson: boolean }) {
  const tokens = isJson ? layout(text) : undefined;
  return (
    <div className="code">
      <pre tabIndex={0} role="group" aria-label={label}><code>{tokens ? <Tokens tokens={tokens} /> : text}</code></pre>
      <Copy text={tokens ? plain(tokens) : text} label={`Copy ${label.toLowerCase()}`} />
    </div>
  );
}

/** The call in the language that the reader chose, for all calls at once. */
export function Samples({ operation }: { operation: Operation }) {
  const chosen = useLanguage();
  const id = useId();
  const text = sample(chosen, operation, location.origin);
  const choose = (language: Language) => {
    setLanguage(language);
    document.getElementById(`${id}-${language}`)?.focus();
  };
  const step = (by: number) => choose(languages[(languages.indexOf(chosen) + by + languages.length) % languages.length]!);
  return (
    <div className="samples">
      <div className="languages" role="tablist" aria-label={`Language of the sample: ${operation.summary}`}
        onKeyDown={onKeys((event) => {
          const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (by === undefined) return;
          event.preventDefault();
          step(by);
        })}>
        {languages.map((language) => (
          <button key={language} type="button" role="tab" id={`${id}-${language}`} aria-selected={language === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={language === chosen ? 0 : -1} onClick={() => setLanguage(language)}>{language}</button>
        ))}
      </div>
      <div className="code" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        <pre tabIndex={0} role="group" aria-label={`${chosen}: ${operation.summary}`}>
          <code><Tokens tokens={highlight(text)} /></code>
        </pre>
        <Copy text={text} label="Copy sample" />
      </div>
    </div>
  );
}

interface DisclosureProps {
  summary: React.ReactNode;
  className?: string;
  children: React.ReactNode;
  open?: boolean;
  label?: string;
  holds?: string | undefined;
  /** What stands for the children until they are made. */
  instead?: React.ReactNode;
}

/**
 * Shows its children when it is opened, and makes them only then. It opens when the address names an anchor that begins with
 * `holds`.
 */
export function Disclosure({ summary, className, children, open: first = false, label, holds, instead }: DisclosureProps) {
  const [open, setOpen] = useState(first);
  const target = useTarget();
  useEffect(() => { if (holds && target.startsWith(`${holds}.`)) setOpen(true); }, [holds, target]);
  return (
    <details className={className} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary aria-label={label}>{summary}</summary>
      {open ? children : instead}
    </details>
  );
}
