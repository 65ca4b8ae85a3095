import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { editable, onKeys, onPageKeys, useTyped } from '@/design/keys';
import { Icon } from '@/design/icons';
import type { Reference } from './document';
import { entriesOf, find } from './search';

/** Finds calls, parameters, members, errors and chapters. `/` and ⌘K lead here from everywhere. */
export function Search({ reference }: { reference: Reference }) {
  const [query, setQuery] = useState('');
  const asked = query !== '';
  const entries = useMemo(() => (asked ? entriesOf(reference) : []), [asked, reference]);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const found = useMemo(() => find(entries, query), [entries, query]);
  const typed = useTyped(query, (text) => { setQuery(text); setAt(0); setOpen(true); });
  const shown = open && query.trim() !== '';

  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      const asked = event.key === 'k' ? event.metaKey || event.ctrlKey : event.key === '/' && !editable(event.target);
      if (!asked) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    return onPageKeys(onKey);
  }, []);
  useEffect(() => { list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }); }, [at, query]);

  const go = (to: string) => {
    setOpen(false);
    input.current?.blur();
    location.hash = to;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') { if (shown) setOpen(false); else setQuery(''); return; }
    if (event.key === 'Enter' && shown && found[at]) { event.preventDefault(); go(found[at].id); return; }
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined || found.length === 0) return;
    event.preventDefault();
    setOpen(true);
    setAt((at + by + found.length) % found.length);
  };
  return (
    <div className="search" role="search">
      <Icon name="search" />
      <input ref={input} className="input" type="search" role="combobox" aria-label="Search the reference" placeholder="Search"
        {...typed}
        aria-expanded={shown} aria-controls={`${id}-list`} aria-autocomplete="list"
        aria-activedescendant={shown && found[at] ? `${id}-${at}` : undefined}
        autoComplete="off" spellCheck={false} onKeyDown={onKeys(onKey)} onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)} />
      <kbd aria-hidden="true">/</kbd>
      <ul ref={list} id={`${id}-list`} role="listbox" aria-label="Found" className="found" hidden={!shown || found.length === 0}>
        {shown && found.map((entry, index) => (
          <li key={entry.id} id={`${id}-${index}`} role="option" aria-selected={index === at}
            onMouseDown={(event) => event.preventDefault()} onClick={() => go(entry.id)}>
            <span className="clip">{entry.title}</span><span className="clip soft">{entry.place}</span>
          </li>
        ))}
      </ul>
      <p role="status" className={shown && found.length === 0 ? 'found found-none' : 'unseen'}>
        {shown && (found.length === 0 ? 'Nothing has these words.' : `${found.length} found`)}
      </p>
    </div>
  );
}
