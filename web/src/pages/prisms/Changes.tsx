import { useState } from 'react';
import { type Change, wordChanges } from '@/definitions/diff';
import { Button, count } from '@/design';

const words = { added: 'Added', removed: 'Removed', changed: 'Changed', moved: 'Moved' };

const first = 20; // differences that are shown where there are many

/** Differences to read: words that were removed and added stand beside each other. Of many, the first ones are shown at first. */
export function Changes({ changes, none }: { changes: Change[]; none: string }) {
  const [all, setAll] = useState(false);
  if (changes.length === 0) return <p className="soft">{none}</p>;
  const more = changes.length - first;
  return (
    <>
      <ul className="changes">
        {(all || more < 2 ? changes : changes.slice(0, first)).map(({ kind, what, before, after }, i) => (
          <li key={i}>
            <span className={`change ${kind}`}>{words[kind]}</span> <strong>{what}</strong>
            {kind === 'changed' ? (
              <p>
                {wordChanges(before ?? '', after ?? '').map(({ kind, text }, j) =>
                  kind === 'same' ? text : kind === 'removed' ? <del key={j}>{text}</del> : <ins key={j}>{text}</ins>)}
              </p>
            ) : (before ?? after) && <p className="soft">{before ?? after}</p>}
          </li>
        ))}
      </ul>
      {more > 1 && (
        <Button small variant="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? `Only the first ${first}` : count(more, 'more change')}
        </Button>
      )}
    </>
  );
}
