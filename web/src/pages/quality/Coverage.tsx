import { Curve } from '@/charts';
import type { Measured } from '@/data/quality';
import { percent } from '@/design';
import { coverageWords } from './figures';

/** How many mistakes are left when answers of low probability are left to people. */
export function Coverage({ measured }: { measured: Measured }) {
  const points = measured.coverage ?? [];
  // What people ask first: how good the surest four fifths are.
  const initial = points.reduce((best, { kept }, i) => (Math.abs(kept - 0.8) < Math.abs(points[best]!.kept - 0.8) ? i : best), 0);
  return (
    <section className="section">
      <Curve title="Mistakes by coverage" label="Share that is wrong, by the share of answers that is kept"
        axes={{ x: 'Answers that are kept, surest first', y: 'Share that is wrong' }}
        lines={[{ label: 'Share that is wrong', points: points.map(({ kept, risk }) => ({ x: kept, y: risk })) }]}
        initial={initial} formatX={percent} formatY={percent} wordsOf={(i) => coverageWords(points[i]!)} />
    </section>
  );
}
