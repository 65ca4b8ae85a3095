import { exactly, wholePercent } from '@/design/numbers';
import { type Answer, kindOf } from '@/questions';
import { type Bounds, hasHues, hueOf, lackingKey, type Question } from './words';
import './answers.css';

/** The dot of an option, in its hue. */
export function Dot({ question, option }: { question: Question | undefined; option: string }) {
  return (
    <span className="dot" aria-hidden="true" data-hue={hueOf(question, option)}
      data-lacking={option === lackingKey || undefined} />
  );
}

interface Props {
  answer: Answer;
  question: Question | undefined;
  bounds: Bounds;
}

/** What an answer says, and the probability of that: of the chosen option or level, of yes or of no. */
export const answerWords = ({ answer, question, bounds }: Props): { words: string; p: number } =>
  kindOf(answer).said(answer, question, bounds);

/** An answer in two lines: the dot of its option with its label, and a small bar of its probability. */
export function Chip(props: Props) {
  const { answer, question, bounds } = props;
  const several = kindOf(answer).several?.(answer, question, bounds);
  if (several) return <Several question={question} parts={several} />;
  return <Mark {...answerWords(props)} question={question} option={kindOf(answer).option?.(answer) ?? ''} />;
}

const room = 2; // options that a cell names, one in each of its lines where it is narrow

/** The options of an answer that has any number of them, with their probabilities where these are known. */
export function Several({ question, parts }: {
  question: Question | undefined; parts: { key: string; label: string; p?: number }[];
}) {
  const more = parts.length - room;
  const words = ({ label, p }: (typeof parts)[number]) => (p === undefined ? label : `${label}: ${exactly(p)}`);
  if (parts.length === 0) return <span className="soft">None</span>;
  return (
    <span className="chips" title={parts.map(words).join('\n')}>
      {parts.slice(0, room).map(({ key, label, p }, i) => (
        <span key={key} className="tag" data-hue={hueOf(question, key)}>
          <Dot question={question} option={key} /> <span className="clip">{label}</span>
          {p !== undefined && <> <span className="soft num">{wholePercent(p)}</span></>}
          {i === room - 1 && more > 0 && <> <span className="soft more">+{more} more</span></>}
        </span>
      ))}
    </span>
  );
}

/** A chip of words; without a probability it has no bar. */
export function Mark({ question, option, words, p }: {
  question: Question | undefined; option: string; words: string; p: number | undefined;
}) {
  return (
    <span className="chip" data-hue={hueOf(question, option)} title={p === undefined ? words : `${words}: ${exactly(p)}`}>
      <span className="chip-words">
        {hasHues(question) && <><Dot question={question} option={option} /> </>}{words}
      </span>
      {p !== undefined && (
        <span className="chip-line">
          <span className="chip-bar" aria-hidden="true"><span style={{ width: `${p * 100}%` }} /></span>
          <span className="num">{wholePercent(p)}</span>
        </span>
      )}
    </span>
  );
}
