import type { Figure } from '@/data/quality';
import { fixed, interval } from './figures';

/** A figure with its 95% interval, which stands below it where there is little room. `text` replaces the figure's own. */
export function Interval({ of, text, written = fixed }: { of: Figure; text?: string; written?: (value: number) => string }) {
  return (
    <span className="quality-figure">
      <strong>{text ?? written(of.value)}</strong>
      <span className="unseen">, </span> <span className="soft">{interval(of, written)}</span>
    </span>
  );
}
