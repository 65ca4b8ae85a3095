import type { ReactNode } from 'react';
import type { Schemas } from '@/api';
import { Probabilities, Scale, YesNo } from '@/charts';
import { Badge, Facts, wholePercent } from '@/design';
import { Dot, Mark } from './Chip';
import {
  average, cellText, hueOf, labelOf, lackingKey, type LensColumn, type Question, saidOf, type Shaped, thresholds, titleOf,
  yesNo,
} from './words';
import './answers.css';

type Answer = Schemas['Answer'];

interface AnswersProps {
  answers: Record<string, Answer>;
  questions?: Question[] | undefined;
  columns?: LensColumn[] | undefined;
  /** What was right, by question. */
  labels?: Schemas['Labels'] | undefined;
}

/**
 * Every answer with all its probabilities and its label, in the order of the questions. Answers to questions that are not known
 * come last.
 */
export function Answers({ answers, questions = [], columns = [], labels = {} }: AnswersProps) {
  const known = questions.map(({ key }) => key).filter((key) => key in answers);
  const keys = [...known, ...Object.keys(answers).filter((key) => !known.includes(key))];
  return (
    <ol className="answers">
      {keys.map((key) => {
        const question = questions.find((one) => one.key === key);
        const one = { label: question?.text ?? key, answer: answers[key]!, question, bounds: thresholds(key, columns) };
        return (
          <li key={key}>
            <h3 title={key}>{one.label}</h3>
            <Words {...one} />
            {labels[key] && <Right {...one} right={labels[key].value} />}
            <Picture {...one} />
          </li>
        );
      })}
    </ol>
  );
}

/** The answer to one question, in words and as a picture, where the question itself stands beside it. */
export function OneAnswer({ answer, question, columns = [] }: {
  answer: Answer; question: Question; columns?: LensColumn[] | undefined;
}) {
  const one = { label: question.text, answer, question, bounds: thresholds(question.key, columns) };
  return <><Words {...one} /><Picture {...one} plain /></>;
}

interface One {
  label: string;
  answer: Answer;
  question: Question | undefined;
  bounds: { no: number; yes: number };
}

/** The answer in words, above its picture. */
function Words({ answer, question, bounds }: One) {
  if (answer.type === 'yes_no') return <p><strong>{yesNo(answer.probability, bounds)}</strong></p>;
  if (answer.type === 'scale') return <p><strong>{labelOf(question, answer.level)}</strong></p>;
  const p = answer.probabilities[answer.value] ?? 0;
  return (
    <p>
      <Dot question={question} option={answer.value} /> <strong>{labelOf(question, answer.value)}</strong>{' '}
      <span className="soft num" title={`confidence ${answer.confidence}: 1 is certain, 0 a guess`}>{wholePercent(p)}</span>
    </p>
  );
}

/** What was right: with a tick, if that is what was answered. */
function Right({ answer, question, bounds, right }: One & { right: boolean | string }) {
  const words = typeof right === 'string' ? labelOf(question, right) : right ? 'Yes' : 'No';
  const same = answer.type === 'yes_no' ? yesNo(answer.probability, bounds) === words
    : right === (answer.type === 'choice' ? answer.value : answer.level);
  return <p>{same ? <Badge tone="good" icon="check">Right: {words}</Badge> : <>Right: {words}</>}</p>;
}

function Picture({ label, answer, question, bounds, plain = false }: One & { plain?: boolean }) {
  if (answer.type === 'yes_no') {
    return <YesNo label={label} p={answer.probability} no={bounds.no} yes={bounds.yes} plain={plain} />;
  }
  const parts = Object.entries(answer.probabilities).map(([key, p]) => (
    { key, label: labelOf(question, key), p, hue: hueOf(question, key) }));
  if (answer.type === 'choice') {
    const lacking = question?.type === 'choice' && question.insufficient_information
      ? answer.probabilities[lackingKey] : undefined;
    const options = lacking === undefined ? parts : parts.filter(({ key }) => key !== lackingKey);
    return <Probabilities label={label} options={options} chosen={answer.value} lacking={lacking} plain={plain} />;
  }
  const levels = question?.type === 'scale' ? question.levels : [];
  const valued = parts.map((part, index) => ({ ...part, value: levels.find(({ key }) => key === part.key)?.value ?? index + 1 }));
  return <Scale label={label} levels={valued} chosen={answer.level} average={average(valued)} plain={plain} />;
}

/** A column of the Lens that shows an answer, with the probability that another column has of it. */
export function LensChip({ name, answers, columns, questions }: LensRowProps & { name: string }) {
  const column = columns?.find((one) => one.name === name);
  const question = questions?.find(({ key }) => key === column?.question);
  const beside = columns?.find(({ question: of, show, option }) => of === column?.question && show === 'probability' && !option);
  const [value, p] = [answers[name], beside && answers[beside.name]];
  if (typeof value !== 'string' || value === '') return <span className="soft">–</span>;
  const of = { question, option: value };
  if (typeof p !== 'number') {
    return <Mark {...of} words={question?.type === 'yes_no' ? titleOf(value) : labelOf(question, value)} p={undefined} />;
  }
  return <Mark {...of} {...(question?.type === 'yes_no' ? saidOf(titleOf(value), p) : { words: labelOf(question, value), p })} />;
}

interface LensRowProps {
  answers: Record<string, Shaped>;
  columns?: LensColumn[] | undefined;
  questions?: Question[] | undefined;
}

/** The Lens columns of one result as people read them; what calls return is in the tooltip. */
export function LensRow({ answers, columns, questions }: LensRowProps) {
  return (
    <Facts items={Object.entries(answers).map(([name, value]) => [
      <code key={name}>{name}</code>,
      <LensValue key={name} value={value} column={columns?.find((column) => column.name === name)} questions={questions} />,
    ])} />
  );
}

/** The name of a column, which may break after each underscore. */
export const breakable = (name: string): ReactNode =>
  name.split('_').flatMap((part, i) => (i ? ['_', <wbr key={i} />, part] : [part]));

interface LensValueProps {
  value: Shaped | undefined;
  column: LensColumn | undefined;
  questions: Question[] | undefined;
}

export function LensValue({ value, column, questions }: LensValueProps) {
  return (
    <span className={value == null ? 'soft' : typeof value === 'number' ? 'num' : undefined}
      title={value == null ? undefined : String(value)}>
      {cellText(value, column, questions)}
    </span>
  );
}
