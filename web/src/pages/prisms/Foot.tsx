import type { ReactNode } from 'react';
import type { Draft } from '@/definitions/model';
import { placeOf, type Problems } from '@/definitions/problems';
import { Button, count, ErrorNote, Icon } from '@/design';
import { focusAt } from './Control';

/** The end of an editor: what is wrong, as links to the places, and what can be done; it stays in view. */
export function Foot({ problems, draft, checking, other, children, words }: {
  problems: Problems; draft: Draft; checking: boolean; other: unknown; children: ReactNode; words: ReactNode;
}) {
  return (
    <footer className="foot">
      <ErrorNote error={other} />
      {problems.size > 0 && (
        <details className="foot-problems">
          <summary><Icon name="bad" />{count(problems.size, 'problem')}</summary>
          <ul>
            {[...problems].map(([path, text]) => (
              <li key={path}>
                <Button variant="quiet" small onClick={() => focusAt(path)}>{placeOf(path, draft)}</Button> {text}
              </li>
            ))}
          </ul>
        </details>
      )}
      <div className="row">
        <span className="soft grow" role="status">{checking ? 'Checking' : problems.size ? '' : words}</span>
        {children}
      </div>
    </footer>
  );
}
