import type { ReactNode } from 'react';
import type { Schemas } from '@/api';
import { Badge, Facts } from '@/design';
import { cellText, keysIn, kindOf, labelText, type LabelValue, thresholds } from '@/questions';
import { Mark, Several } from './Chip';
import { type One, pictures } from './pictures';
import { labelOf, type LensColumn, type Question, type Shaped } from './words';
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
        const answer = answers[key]!;
        const one = { label: question?.text ?? key, answer, question, bounds: thresholds({ key, type: answer.type }, columns) };
        return (
          <li key={key}>
            <h3 title={key}>{one.label}</h3>
            <Words {...one} />
            {labels[key] && <Right {...one} right={labels[key].value} />}
            <Picture {...one} right={labels[key]?.value} />
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
  const one = { label: question.text, answer, question, bounds: thresholds(question, columns) };
  return <><Words {...one} /><Picture {...one} plain /></>;
}

/** The answer in words, above its picture. */
function Words(one: One) {
  const { Words: InWords } = pictures[one.answer.type];
  return <InWords {...one} />;
}

/** What was right: with a tick, if that is what was answered. */
function Right({ answer, question, bounds, right }: One & { right: LabelValue }) {
  const words = labelText(right, question);
  const same = kindOf(answer).right(answer, right, bounds);
  return <p>{same ? <Badge tone="good" icon="check">Right: {words}</Badge> : <>Right: {words}</>}</p>;
}

function Picture({ plain = false, ...one }: One & { plain?: boolean }) {
  const { Picture: Drawn } = pictures[one.answer.type];
  return <Drawn {...one} plain={plain} />;
}

/** A column of the Lens that shows an answer, with the probability that another column has of it. */
export function LensChip({ name, answers, columns, questions }: LensRowProps & { name: string }) {
  const column = columns?.find((one) => one.name === name);
  const question = questions?.find(({ key }) => key === column?.question);
  const beside = columns?.find(({ question: of, show, option }) => of === column?.question && show === 'probability' && !option);
  const [value, p] = [answers[name], beside && answers[beside.name]];
  const several = question && kindOf(question).several !== undefined;
  if (typeof value !== 'string' || (value === '' && !several)) return <span className="soft">–</span>;
  const parts = () => keysIn(value).map((key) => ({ key, label: labelOf(question, key) }));
  if (several) return <Several question={question} parts={parts()} />;
  const of = { question, option: value };
  if (!question) return <Mark {...of} words={value} p={undefined} />;
  const kind = kindOf(question);
  return (
    <Mark {...of}
      {...(typeof p === 'number' ? kind.shaped(value, question, p) : { words: kind.label(value, question), p: undefined })} />
  );
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
