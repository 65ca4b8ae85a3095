import type { Schemas } from '@/api';
import { Probabilities, Scale, YesNo } from '@/charts';
import { percent } from '@/design';
import { average, labelOf, lackingKey, thresholds } from './answers';

type Answer = Schemas['Answer'];
type Question = Schemas['Question'];

/** Every answer of a result with all its probabilities, in the order of the version. */
export function Answers({ answers, version, lens }: {
  answers: Record<string, Answer>; version: Schemas['Version'] | undefined; lens: Schemas['Lens'] | undefined;
}) {
  return Object.entries(answers).map(([key, answer]) => {
    const question = version?.questions.find((one) => one.key === key);
    return (
      <div className="results-answer" key={key}>
        <h3>{question?.text ?? key}</h3>
        <Words answer={answer} question={question} bounds={thresholds(key, lens)} />
        <Picture label={question?.text ?? key} answer={answer} question={question} bounds={thresholds(key, lens)} />
      </div>
    );
  });
}

interface One {
  answer: Answer;
  question: Question | undefined;
  bounds: { no: number; yes: number };
}

function yesNo(p: number, { no, yes }: One['bounds']): string {
  return p >= yes ? 'Yes' : p <= no ? 'No' : 'Unsure';
}

/** The answer in words, above its picture. */
function Words({ answer, question, bounds }: One) {
  if (answer.type === 'yes_no') return <p><strong>{yesNo(answer.probability, bounds)}</strong></p>;
  if (answer.type === 'scale') return <p><strong>{labelOf(question, answer.level)}</strong></p>;
  return (
    <p><strong>{labelOf(question, answer.value)}</strong> <span className="soft" title={String(answer.confidence)}>confidence {percent(answer.confidence)}</span></p>
  );
}

function Picture({ label, answer, question, bounds }: One & { label: string }) {
  if (answer.type === 'yes_no') return <YesNo label={label} p={answer.probability} no={bounds.no} yes={bounds.yes} />;
  const parts = Object.entries(answer.probabilities).map(([key, p]) => ({ key, label: labelOf(question, key), p }));
  if (answer.type === 'choice') {
    const lacking = question?.type === 'choice' && question.insufficient_information ? answer.probabilities[lackingKey] : undefined;
    const options = lacking === undefined ? parts : parts.filter(({ key }) => key !== lackingKey);
    return <Probabilities label={label} options={options} chosen={answer.value} lacking={lacking} />;
  }
  const levels = question?.type === 'scale' ? question.levels : [];
  const valued = parts.map((part, index) => ({ ...part, value: levels.find(({ key }) => key === part.key)?.value ?? index + 1 }));
  return <Scale label={label} levels={valued} chosen={answer.level} average={average(valued)} />;
}
