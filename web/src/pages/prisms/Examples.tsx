import { Link } from '@tanstack/react-router';
import { limits } from '@/api/limits';
import { Section } from '@/design';
import { Choice, Text, useEditing } from './Control';
import { Items } from './Items';
import type { Draft, DraftExample, DraftQuestion, Label } from './model';
import { newExample } from './model';

/** Inputs with their right answers, which the model sees before each input. */
export function Examples({ draft, onChange }: { draft: Draft; onChange: (examples: DraftExample[]) => void }) {
  const { problems, disabled } = useEditing();
  const examples = draft.examples ?? [];
  const first = draft.fields[0]?.key ?? '';
  return (
    <Section title="Examples">
      <p className="soft">
        Inputs with their right answers, which the model sees before each input. They help where words do not say what you
        mean, and cost tokens in each call. An example of a result is emptied when the result is deleted. Optional.
      </p>
      <Items items={examples} onChange={onChange} noun="example" nameOf={(e) => (e.values[first] ?? '').slice(0, 60)}
        disabled={disabled} error={problems.get('examples')}
        add={{ label: 'Add example', make: () => newExample(), most: limits.examples.most }}>
        {(example, i, update, buttons) => (
          <fieldset className="question">
            <legend className="unseen">Example {i + 1}</legend>
            <div className="question-head"><h3 aria-hidden="true">Example {i + 1}</h3>{buttons}</div>
            <div className="question-form">
              {draft.fields.map((field) => (
                <Text key={field.id} path={`examples.${i}.fields.${field.key}`} long label={field.label || field.key || 'Field'}
                  value={example.values[field.key] ?? ''}
                  onChange={(value) => update({ ...example, values: { ...example.values, [field.key]: value } })} />
              ))}
              {draft.questions.map((question) => (
                <Answer key={question.id} of={question} path={`examples.${i}.answers.${question.key}`}
                  value={example.answers[question.key]}
                  onChange={(label) => update({ ...example, answers: { ...example.answers, [question.key]: label } })} />
              ))}
              {problems.get(`examples.${i}.answers`) && <p className="bad">{problems.get(`examples.${i}.answers`)}</p>}
              {example.result && (
                <p className="soft">
                  Taken from a result. {problems.get(`examples.${i}.result_id`)}
                  {' '}<Link to="/results/$result" params={{ result: example.result }}>Open it</Link>
                </p>
              )}
            </div>
          </fieldset>
        )}
      </Items>
    </Section>
  );
}

interface AnswerProps {
  of: DraftQuestion;
  path: string;
  value: Label | undefined;
  onChange: (label: Label) => void;
}

/** What is right for a question; empty if the example does not say. */
function Answer({ of: question, path, value, onChange }: AnswerProps) {
  const label = `Right answer: ${question.text || question.key}`;
  const options: [string, string][] = question.type === 'yes_no' ? [['true', 'Yes'], ['false', 'No']]
    : (question.type === 'scale' ? question.levels : question.options).map((o) => [o.key, o.label || o.key]);
  if (question.type === 'choice' && question.insufficient) options.push(['insufficient_information', 'Insufficient information']);
  const text = Array.isArray(value) ? value.join('; ') : String(value ?? '');
  return (
    <Choice path={path} label={label} value={text} onChange={onChange}
      options={[
        ['', 'Not said'], ...options,
        ...(text && !options.some(([key]) => key === text) ? [[text, text] as [string, string]] : []),
      ]} />
  );
}
