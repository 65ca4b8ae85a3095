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
  const { answer, question } = props;
  return <Mark {...answerWords(props)} question={question} option={kindOf(answer).option?.(answer) ?? ''} />;
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
