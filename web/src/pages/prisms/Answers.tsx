import { Probabilities, Scale, YesNo } from '@/charts';
import { Facts, Num, shown } from '@/design';
import type { LensAnswers, RawAnswers } from './calls';
import { thresholds } from './lens';
import type { LensColumn, Question } from './model';

/** The answer to every question with every probability, in the order of the questions. */
export function Answers({ questions, answers, lens }: { questions: Question[]; answers: RawAnswers; lens: LensColumn[] }) {
  return (
    <ol className="answers">
      {questions.map((question) => {
        const answer = answers[question.key];
        return answer && <li key={question.key}><Answer {...{ question, answer, lens }} /></li>;
      })}
    </ol>
  );
}

const lacking = 'insufficient_information';

function Answer({ question, answer, lens }: { question: Question; answer: RawAnswers[string]; lens: LensColumn[] }) {
  return (
    <section className="answer">
      <h3>{question.text} <code className="soft">{question.key}</code></h3>
      <Picture {...{ question, answer, lens }} />
    </section>
  );
}

function Picture({ question, answer, lens }: { question: Question; answer: RawAnswers[string]; lens: LensColumn[] }) {
  if (answer.type === 'yes_no') {
    const { yes, no } = thresholds(question.key, lens);
    const word = answer.probability >= yes ? 'yes' : answer.probability <= no ? 'no' : 'unsure';
    return <YesNo label={question.text} p={answer.probability} yes={yes} no={no} answer={word} />;
  }
  if (answer.type === 'scale' && question.type === 'scale') {
    const levels = question.levels.map((level, i) => ({ key: level.key, label: level.label, value: level.value ?? i + 1, p: answer.probabilities[level.key] ?? 0 }));
    return <Scale label={question.text} levels={levels} chosen={answer.level} average={levels.reduce((sum, l) => sum + l.p * l.value, 0)} />;
  }
  if (answer.type === 'choice' && question.type === 'choice') {
    return (
      <>
        <Probabilities label={question.text} chosen={answer.value} lacking={answer.probabilities[lacking]}
          options={question.options.map(({ key, label }) => ({ key, label, p: answer.probabilities[key] ?? 0 }))} />
        <p className="soft answer-foot">
          {answer.value === lacking ? 'The text does not say enough to choose. ' : ''}Confidence <Num value={answer.confidence} />
        </p>
      </>
    );
  }
  return null; // an answer of another type than the question's cannot be shown as one
}

/** The Lens columns of a result, as calls return them. */
export function LensRow({ answers }: { answers: LensAnswers }) {
  return (
    <Facts items={Object.entries(answers).map(([name, value]) => [<code key="name">{name}</code>, <LensValue key="value" value={value} />])} />
  );
}

export function LensValue({ value }: { value: string | number | null | undefined }) {
  if (value == null) return <span className="soft">–</span>;
  return typeof value === 'number' ? <span className="num" title={String(value)}>{shown(value)}</span> : <>{value}</>;
}
