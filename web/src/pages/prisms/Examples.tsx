import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { limits } from '@/api/limits';
import { type Draft, type DraftExample, type DraftQuestion, type Label, newExample } from '@/definitions/model';
import { Button, Section } from '@/design';
import { kindOf } from '@/questions';
import { Choice, Text, useEditing } from './Control';
import { Items } from './Items';
import { TakeExamples } from './TakeExamples';

interface Props {
  draft: Draft;
  onChange: (examples: DraftExample[]) => void;
  /** The prism that has labels to take; none of a new one. */
  prism?: string | undefined;
}

/** Inputs with their right answers, which the model sees before each input. */
export function Examples({ draft, onChange, prism }: Props) {
  const { problems, disabled } = useEditing();
  const [taking, setTaking] = useState(false);
  const examples = draft.examples ?? [];
  const first = draft.fields[0]?.key ?? '';
  return (
    <Section title="Examples" actions={prism !== undefined && !disabled && (
      <Button small variant="quiet" onClick={() => setTaking(true)}>Take from labels</Button>
    )}>
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
      {taking && <TakeExamples prism={prism!} draft={draft} onTake={onChange} onClose={() => setTaking(false)} />}
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
  if (kindOf(question).several) return <RightOptions {...{ of: question, path, value, onChange, label }} />;
  const options: [string, string][] = question.type === 'yes_no' ? [['true', 'Yes'], ['false', 'No']]
    : (question.type === 'scale' ? question.levels : question.options).map((o) => [o.key, o.label || o.key]);
  if (question.type === 'choice' && question.insufficient) options.push(['insufficient_information', 'Insufficient information']);
  const text = String(value ?? '');
  return (
    <Choice path={path} label={label} value={text} onChange={onChange}
      options={[
        ['', 'Not said'], ...options,
        ...(text && !options.some(([key]) => key === text) ? [[text, text] as [string, string]] : []),
      ]} />
  );
}

const noneOfThem = ' none'; // no key has a blank

/** Any number of options that are right: each is added by itself, and taken away by its button. */
function RightOptions({ of: { options }, path, value, onChange, label }: AnswerProps & { label: string }) {
  const { disabled } = useEditing();
  const said = value !== undefined && value !== '';
  const right = Array.isArray(value) ? value : said ? [String(value)] : [];
  const rest = options.filter(({ key }) => !right.includes(key)).map((o): [string, string] => [o.key, o.label || o.key]);
  const nameOf = (key: string) => options.find((o) => o.key === key)?.label || key;
  return (
    <div className="right-options">
      <Choice path={path} label={label} value=""
        onChange={(key) => onChange(key === noneOfThem ? [] : [...right, key])}
        options={[
          ['', !said ? 'Not said' : right.length ? 'Add another option' : 'None of these'],
          ...(said && right.length === 0 ? [] : [[noneOfThem, 'None of these'] as [string, string]]), ...rest,
        ]} />
      {said && (
        <div className="row">
          {right.map((key) => (
            <Button key={key} small icon="close" disabled={disabled} title={`Take ${nameOf(key)} away`}
              onClick={() => onChange(right.length > 1 ? right.filter((one) => one !== key) : '')}>{nameOf(key)}</Button>
          ))}
          {right.length === 0 && (
            <Button small variant="quiet" disabled={disabled} onClick={() => onChange('')}>Say nothing of it</Button>
          )}
        </div>
      )}
    </div>
  );
}
