import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type Layer, ShareBar, Swatch } from '@/charts';
import { dayAfter, today } from '@/data/usage';
import { Button, count, exactly, percent, Section, wholePercent } from '@/design';
import { late, latelyOf, manyKinds, news, whereOf } from './distribution';
import type { Question } from './words';
import './answers.css';

const rows = 8; // of many answers, those that are shown at first

interface Props {
  prism: string;
  question: Question;
  /** Each answer of its own. */
  layers: Layer[];
  /** How many answers there were on each day, where that is not what the layers have together. */
  answers?: number[];
  /** Those of the picture beside it, whose shades the answers have. */
  drawn?: Layer[];
  bounds: { no: number; yes: number };
}

/**
 * The answers of the last days beside what they usually are. Each leads to its results. Of many, those that moved most come
 * first, and the others are folded.
 */
export function Lately({ prism, question, layers, answers, drawn = layers, bounds }: Props) {
  const [all, setAll] = useState(false);
  const from = `${dayAfter(today(), 1 - late)}T00:00:00.000Z`;
  const more = news(layers, answers);
  const many = manyKinds(question);
  const moved = (one: { more: number | undefined }) => Math.abs(one.more ?? 0);
  const lately = latelyOf(layers, answers);
  const found = many ? lately.filter((one) => one.share > 0 || moved(one) > 0)
    .sort((a, b) => moved(b) - moved(a) || b.share - a.share) : lately;
  const shown = many && !all ? found.slice(0, rows) : found;
  const shades = new Map(drawn.map((layer) => [layer.key, layer]));
  const results = (key: string, words: ReactNode) => {
    const where = whereOf(question, key, bounds);
    if (!where) return <span>{words}</span>;
    return <Link to="/prisms/$prism/results" params={{ prism }} search={{ where, from, view: 'all' }}>{words}</Link>;
  };
  return (
    <Section title={`The last ${late} days`}>
      <ul className="answers-lately">
        {shown.map((one) => (
          <li key={one.key}>
            <Swatch layer={shades.get(one.key) ?? one} />{results(one.key, one.label)}
            <ShareBar label={percent(one.share)} parts={[{ ...one, strength: (shades.get(one.key) ?? one).strength }]} />
            <strong className="num" title={exactly(one.share)}>{wholePercent(one.share)}</strong>
            <span className="num soft" title="Points more than in the days before">{pointsOf(one.more)}</span>
          </li>
        ))}
      </ul>
      {found.length > shown.length || all ? (
        <Button small variant="quiet" className="answers-fold" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? `Only the ${rows} that moved most` : count(found.length - shown.length, 'more answer')}
        </Button>
      ) : null}
      {more && (
        <p>
          More {more.label} than usual: {wholePercent(more.share)} in the last {late} days,{' '}
          {wholePercent(more.share - more.more!)} before. {results(more.key, 'See the texts')}
        </p>
      )}
    </Section>
  );
}

function pointsOf(more: number | undefined): string {
  const points = Math.round((more ?? 0) * 100);
  return more === undefined ? '' : points > 0 ? `+${points}` : points < 0 ? `−${-points}` : '0';
}
