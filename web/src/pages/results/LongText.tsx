import { useState } from 'react';
import { Button, count } from '@/design';

const most = 1500; // characters that are shown of a text until all of it is asked for

/**
 * A text that somebody sent, as it came. The rest of a long one is shown when asked for, so that no part of the page scrolls by
 * itself.
 */
export function LongText({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  if (text === '') return <span className="soft">empty</span>;
  if (whole || text.length <= most + 200) return <div className="results-value">{text}</div>;
  return (
    <>
      <div className="results-value">{text.slice(0, most)}…</div>
      <Button variant="quiet" small onClick={() => setWhole(true)}>Show all {count(text.length, 'character')}</Button>
    </>
  );
}
