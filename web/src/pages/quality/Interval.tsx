import type { Figure } from './calls';
import { fixed, interval } from './figures';

/** A figure with its 95% interval, which stands below it where there is little room. `text` replaces the figure's own. */
export function Interval({ of, text }: { of: Figure; text?: string }) {
  return (
    <span className="quality-figure">
      <strong>{text ?? fixed(of.value)}</strong>
      <span className="unseen">, </span> <span className="soft">{interval(of)}</span>
    </span>
  );
}
