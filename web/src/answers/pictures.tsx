import type { ReactNode } from 'react';
import { Probabilities, Scale, YesNo } from '@/charts';
import { wholePercent } from '@/design';
import { type Answer, kindOf, type LabelValue, type QuestionType } from '@/questions';
import { Dot } from './Chip';
import { average, type Bounds, hueOf, labelOf, lackingKey, type Question } from './words';

/** An answer to draw; its question is not known where the version that asked it is not. */
export interface One {
  label: string;
  answer: Answer;
  question: Question | undefined;
  bounds: Bounds;
  /** What was right, where that is known. */
  right?: LabelValue | undefined;
}

type Of<T extends QuestionType> = Omit<One, 'answer'> & { answer: Extract<Answer, { type: T }> };

interface Pictures<T extends QuestionType> {
  /** The answer in words. */
  Words: (one: Of<T>) => ReactNode;
  /** Every probability. */
  Picture: (one: Of<T> & { plain: boolean }) => ReactNode;
}

const Said = ({ answer, question, bounds }: One) =>
  <p><strong>{kindOf(answer).said(answer, question, bounds).words}</strong></p>;

/** The options or levels of an answer, with their probabilities. */
const partsOf = (probabilities: Record<string, number>, question: Question | undefined) =>
  Object.entries(probabilities).map(([key, p]) => ({ key, label: labelOf(question, key), p, hue: hueOf(question, key) }));

const choice: Pictures<'choice'> = {
  Words: ({ answer: { value, probabilities, confidence }, question }) => (
    <p>
      <Dot question={question} option={value} /> <strong>{labelOf(question, value)}</strong>{' '}
      <span className="soft num" title={`confidence ${confidence}: 1 is certain, 0 a guess`}>
        {wholePercent(probabilities[value] ?? 0)}
      </span>
    </p>
  ),
  Picture: ({ label, answer: { value, probabilities }, question, plain }) => {
    const parts = partsOf(probabilities, question);
    const lacking = question && 'insufficient_information' in question && question.insufficient_information
      ? probabilities[lackingKey] : undefined;
    const options = lacking === undefined ? parts : parts.filter(({ key }) => key !== lackingKey);
    return <Probabilities label={label} options={options} chosen={value} lacking={lacking} plain={plain} />;
  },
};

const yesNo: Pictures<'yes_no'> = {
  Words: Said,
  Picture: ({ label, answer: { probability }, bounds: { no, yes }, plain }) =>
    <YesNo label={label} p={probability} no={no} yes={yes} plain={plain} />,
};

const scale: Pictures<'scale'> = {
  Words: Said,
  Picture: ({ label, answer: { level, probabilities }, question, plain }) => {
    const levels = question && 'levels' in question ? question.levels : [];
    const valued = partsOf(probabilities, question)
      .map((part, index) => ({ ...part, value: levels.find(({ key }) => key === part.key)?.value ?? index + 1 }));
    return <Scale label={label} levels={valued} chosen={level} average={average(valued)} plain={plain} />;
  },
};

const tags: Pictures<'tags'> = {
  Words: ({ answer, question, bounds }) => {
    const found = kindOf(answer).several!(answer, question, bounds);
    return (
      <p className="chips all">
        {found.map(({ key, label, p }) => (
          <span key={key} className="tag">
            <Dot question={question} option={key} /> <strong>{label}</strong>{' '}
            <span className="soft num">{wholePercent(p)}</span>
          </span>
        ))}
        {found.length === 0 && <strong>None</strong>}
      </p>
    );
  },
  Picture: ({ label, answer: { probabilities }, question, bounds: { yes }, right, plain }) => {
    const labelled = Array.isArray(right) ? new Set<string>(right) : undefined;
    const parts = partsOf(probabilities, question).map((part) => ({ ...part, right: labelled?.has(part.key) }));
    return <Probabilities label={label} options={parts} from={yes} plain={plain} />;
  },
};

const byType: { [T in QuestionType]: Pictures<T> } = { choice, yes_no: yesNo, scale, tags };

/** How the answers of each type are drawn. */
export const pictures = byType as unknown as Record<QuestionType, {
  Words: (one: One) => ReactNode; Picture: (one: One & { plain: boolean }) => ReactNode;
}>;
