import { AreaChart, Curve, Probabilities, Reliability, Scale, Sparkline, YesNo } from '@/charts';
import { Section } from '@/design';
import './gallery.css';

const topics = [
  'Billing', 'Delivery', 'A label that is so long that it needs more than one line to be read', 'Returns', 'Account', 'Other',
  'Praise',
];
const parts = [0.62, 0.2, 0.08, 0.05, 0.03, 0.015, 0.0004];
const levels = ['Not urgent', 'This month', 'This week', 'Today', 'Now'];
const days = Array.from({ length: 30 }, (_, i) => new Date(Date.parse('2026-10-24') + i * 86_400_000).toISOString().slice(0, 10));
const bins = [0.1, 0.3, 0.5, 0.7, 0.9].map((mean, i) => ({
  n: 20 * (i + 1), mean, rate: mean * 0.9, low: mean * 0.9 - 0.08, high: mean * 0.9 + 0.08,
}));
const waves = (height: number, gap = -1) => days.map((_, i) => (i === gap ? null : Math.round(height * (1.2 + Math.sin(i / 2)))));

export function Charts() {
  return (
    <Section title="Charts">
      <div className="gallery-charts">
        <Probabilities label="Topic" options={topics.map((label, i) => ({ key: label, label, p: parts[i]! }))} chosen="Billing"
          lacking={0.0046} />
        <Scale label="Urgency"
          levels={levels.map((label, i) => ({ key: label, label, value: i, p: [0.05, 0.1, 0.2, 0.5, 0.15][i]! }))} chosen="Today"
          average={2.6} />
        <YesNo label="Refund" p={0.81} no={0.3} yes={0.7} answer="yes" lacking={0.1} />
      </div>
      <div className="gallery-charts">
        <Reliability title="Reliability" label="Reliability" bins={bins} shares={bins.map((bin) => bin.n / 300)}
          axes={{ x: 'Probability', y: 'Share' }} wordsOf={(bin) => `Near ${bin.mean}: ${bin.rate}.`} />
        <Curve title="A curve" label="A curve" axes={{ x: 'Kept', y: 'Wrong' }}
          lines={[{ label: 'Wrong', points: bins.map((bin) => ({ x: bin.mean, y: bin.mean ** 2 / 4 })) }]}
          marks={[{ x: 0.4, label: 'here' }]} initial={2}
          formatX={String} formatY={String} wordsOf={(i) => `${bins[i]!.mean} are kept.`} />
      </div>
      <AreaChart title="Four series" label="Four series" times={days}
        series={['One', 'Two', 'Three', 'Four'].map((label, i) => ({ label, values: waves(100 / (i + 1), 10) }))} />
      <AreaChart title="Nothing" label="Nothing" times={days} series={[{ label: 'Results', values: days.map(() => 0) }]} />
      <AreaChart title="One day" label="One day" times={days.slice(0, 1)} series={[{ label: 'Results', values: [12] }]} />
      <p>A sparkline <Sparkline label="Results of 30 days" values={waves(10).map((n) => n ?? 0)} /></p>
    </Section>
  );
}
