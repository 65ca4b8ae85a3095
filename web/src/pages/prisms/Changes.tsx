import { type Change, wordChanges } from './diff';

const words = { added: 'Added', removed: 'Removed', changed: 'Changed', moved: 'Moved' };

/** Differences to read: words that were removed and added stand beside each other. */
export function Changes({ changes, none }: { changes: Change[]; none: string }) {
  if (changes.length === 0) return <p className="soft">{none}</p>;
  return (
    <ul className="changes">
      {changes.map(({ kind, what, before, after }, i) => (
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
  );
}
