import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { usePrisms } from '@/api';
import { Dialog } from '@/design/Dialog';
import { onKeys, useTyped } from '@/design/keys';
import { Kbd } from '@/design/Values';
import { type Action, useAllActions } from './actions';

/** Everything that can be reached or done, by a few of its letters. */
export function Palette({ onClose }: { onClose: () => void }) {
  const actions = useAllActions();
  const navigate = useNavigate();
  const { data: prisms } = usePrisms('false');
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const typed = useTyped(text, (next) => { setText(next); setAt(0); });
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const found = useMemo(() => {
    const all = [...actions, ...(prisms ?? []).map((prism): Action => ({
      id: `prism ${prism.id}`, group: 'Prism', label: prism.name ?? prism.slug, words: prism.slug,
      run: () => void navigate({ to: '/prisms/$prism', params: { prism: prism.slug } }),
    }))];
    return [...ofId(text, navigate), ...match(all, text)];
  }, [actions, prisms, text, navigate]);
  useLayoutEffect(() => {
    ref.current!.showModal();
    const dialog = ref.current!;
    return () => dialog.close();
  }, []);
  const current = Math.min(at, found.length - 1);
  const choose = (action: Action | undefined) => {
    if (!action) return;
    onClose();
    action.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      const next = (current + by + found.length) % Math.max(1, found.length);
      setAt(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      choose(found[current]);
    }
  };
  return (
    <dialog ref={ref} className="dialog palette" aria-label="Find anything"
      onCancel={(event) => { event.preventDefault(); onClose(); }}
      onMouseDown={(event) => { if (event.target === ref.current) onClose(); }}>
      <div className="palette-body" onKeyDown={onKeys(onKey)}>
        <input autoFocus className="palette-input" {...typed} placeholder="A page, a prism, an id, or what to do"
          aria-label="Find anything" role="combobox"
          aria-expanded="true" aria-controls={id} aria-activedescendant={found.length ? `${id}-${current}` : undefined}
          autoComplete="off" spellCheck={false} />
        <ul id={id} role="listbox" aria-label="Found" className="palette-list">
          {found.map((action, index) => (
            <li key={action.id} id={`${id}-${index}`} role="option" aria-selected={index === current}
              onMouseMove={() => setAt(index)} onClick={() => choose(action)}>
              <span className="soft">{action.group}</span>
              <span className="grow clip">{action.label}</span>
              {action.keys && <Kbd keys={action.keys} />}
            </li>
          ))}
        </ul>
        {found.length === 0 && <p className="palette-none soft">Nothing has this name.</p>}
      </div>
    </dialog>
  );
}

/** What an id may be of. */
function ofId(text: string, navigate: ReturnType<typeof useNavigate>): Action[] {
  const id = text.trim().toLowerCase();
  if (!/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(id)) return [];
  return [
    {
      id: 'result of an id', group: 'Result', label: id,
      run: () => void navigate({ to: '/results/$result', params: { result: id } }),
    },
    { id: 'run of an id', group: 'Run', label: id, run: () => void navigate({ to: '/runs/$run', params: { run: id } }) },
  ];
}

/** The actions that have each word of the text, those that begin with it first. */
export function match(actions: Action[], text: string): Action[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = ({ label, words = '', group }: Action) => {
    const name = label.toLowerCase();
    const whole = `${name} ${words.toLowerCase()} ${group.toLowerCase()}`;
    if (!wanted.every((word) => whole.includes(word))) return undefined;
    return wanted.length && name.startsWith(wanted[0]!) ? 0 : wanted.every((word) => name.includes(word)) ? 1 : 2;
  };
  return actions
    .map((action) => ({ action, rank: rank(action) }))
    .filter((found) => found.rank !== undefined)
    .sort((a, b) => a.rank! - b.rank!)
    .slice(0, 50)
    .map((found) => found.action);
}

/** The keys that work here. */
export function KeyList({ onClose }: { onClose: () => void }) {
  const actions = useAllActions().filter((action) => action.keys);
  const lists: [string, string][] = [
    ['Mod K', 'Find anything'], ['j', 'Next row'], ['k', 'Previous row'], ['Enter', 'Open the row'], ['Esc', 'Close one layer'],
  ];
  // The keys that a page has for itself do nothing else on it.
  const general = lists.filter(([keys]) => !actions.some((action) => action.keys === keys));
  const groups = [...new Set(actions.map((action) => action.group))];
  return (
    <Dialog open onClose={onClose} title="Keys" wide>
      <div className="keys">
        <section>
          <h3>Everywhere</h3>
          <dl>{general.map(([keys, label]) => <div key={keys}><dt>{label}</dt><dd><Kbd keys={keys} /></dd></div>)}</dl>
        </section>
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {actions.filter((action) => action.group === group).map((action) => (
                <div key={action.id}><dt>{action.label}</dt><dd><Kbd keys={action.keys!} /></dd></div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
