import { useState } from 'react';
import { useModels } from '@/api';
import { limits } from '@/api/limits';
import { reserved } from '@/definitions/lens';
import {
  type Draft, type DraftLevel, type DraftQuestion, freeKey, newField, newLevel, newQuestion, slugOf,
} from '@/definitions/model';
import { Button, Section } from '@/design';
import { kindOf, kinds, type QuestionType } from '@/questions';
import { Choice, Text, useEditing } from './Control';
import { Examples } from './Examples';
import { Items } from './Items';
import { Key, labelled } from './Key';
import { LiveAnswer, LiveSwitch, useLive } from './LiveAnswers';
import { Options } from './Options';

interface EditorProps {
  draft: Draft;
  onChange: (draft: Draft) => void;
  named?: boolean;
  /** The slug of the prism that is edited. */
  prism?: string;
}

/** A definition as a form. `named`: with the slug and name of a new prism. */
export function Editor({ draft, onChange, named, prism }: EditorProps) {
  const models = useModels();
  const { problems, disabled } = useEditing();
  const live = useLive();
  const [keys, setKeys] = useState(false);
  const set = (part: Partial<Draft>) => onChange({ ...draft, ...part });
  const known = models.data ?? [];
  const standard = known.find((m) => m.default);
  const escalate = draft.escalate ?? { to: '', below: '0.6', questions: '' };
  return (
    <div className="editor">
      {named && (
        <div className="line two">
          <Text path="name" label="Name" hint="For people. You can change it later." value={draft.name}
            onChange={(name) =>
              set({ name, ...((!draft.slug || draft.slug === slugOf(draft.name)) && { slug: slugOf(name) }) })} />
          <Text path="slug" label="Slug" mono hint="The prism’s name in calls and addresses. It stays." value={draft.slug}
            onChange={(slug) => set({ slug })} />
        </div>
      )}
      <Text path="instructions" long label="Instructions"
        hint="Sent to the model with every question: what the fields are, and how to judge them. Optional."
        value={draft.instructions} onChange={(instructions) => set({ instructions })} />
      <div className="line two">
        <Choice path="model" label="Model" value={draft.model} onChange={(model) => set({ model })} options={[
          ['', standard ? `Default (${standard.model || standard.name})` : 'Default'],
          ...known.map((m): [string, string] => [m.name, [
            m.name, m.model, m.price && `${m.price.input} and ${m.price.output} ${m.price.currency} for a million tokens`,
          ].filter(Boolean).join(' · ')]),
          ...(draft.model && models.data && !known.some((m) => m.name === draft.model)
            ? [[draft.model, `${draft.model}, not configured`] as [string, string]] : []),
        ]} hint={models.error ? 'The models could not be loaded. The choice stays as it is.' : undefined} />
        <Choice path="escalate.to" label="Second model" value={escalate.to}
          onChange={(to) => set({ escalate: { ...escalate, to } })} options={[
            ['', 'None'],
            ...known.map((m): [string, string] => [m.name, m.name]),
            ...(escalate.to && models.data && !known.some((m) => m.name === escalate.to)
              ? [[escalate.to, `${escalate.to}, not configured`] as [string, string]] : []),
          ]} hint="Answers in place of the first one when an answer is in doubt." />
      </div>
      {escalate.to && (
        <div className="line two">
          <Text path="escalate.below" label="Below" mono inputMode="decimal"
            hint={'An answer is in doubt when its best option, level, yes or no has a probability below this; of tags, when that '
              + 'is so of an option’s being right or not.'}
            value={escalate.below} onChange={(below) => set({ escalate: { ...escalate, below } })} />
          <Text path="escalate.questions" label="Questions" mono
            hint="Keys with commas between them, of the questions whose doubt counts. Empty: all."
            value={escalate.questions} onChange={(questions) => set({ escalate: { ...escalate, questions } })} />
        </div>
      )}
      <Section title="Fields" actions={
        <Button small variant="quiet" aria-pressed={keys} onClick={() => setKeys(!keys)}>
          {keys ? 'Hide keys' : 'Show keys'}
        </Button>
      }>
        <p className="soft">
          What a call sends.{keys && ' A key is the name of a field, question, option or level in calls and files. It is made of '
            + 'the label, and stays once it is saved.'}
        </p>
        <Items items={draft.fields} onChange={(fields) => set({ fields })} noun="field" nameOf={(f) => f.label || f.key}
          disabled={disabled} error={problems.get('fields')}
          add={{ label: 'Add field', make: () => newField(), most: limits.fields.most, enter: true }}>
          {(field, i, update, buttons) => (
            <div className="line field-line">
              <Text path={`fields.${i}.label`} label="Label" value={field.label}
                onChange={(label) => update(labelled(field, label, 'field', draft.fields, reserved))} />
              <Key path={`fields.${i}.key`} of={field} asked={keys}
                onChange={(key) => update({ ...field, key, auto: false })} />
              {buttons}
            </div>
          )}
        </Items>
      </Section>
      <Section title="Questions" actions={<LiveSwitch />}>
        {live.shown && (
          <p className="soft">
            Beside each question is its answer to the text under Try, asked again after each edit. Nothing is stored; it counts in
            Usage.
          </p>
        )}
        <Items items={draft.questions} onChange={(questions) => set({ questions })} noun="question"
          nameOf={(q) => q.text || q.key}
          disabled={disabled} error={problems.get('questions')}
          add={{ label: 'Add question', make: () => newQuestion(), most: limits.questions.most }}>
          {(question, i, update, buttons) => (
            <QuestionEditor question={question} at={`questions.${i}`} number={i + 1} onChange={update} buttons={buttons}
              others={draft.questions.filter(({ id }) => id !== question.id).map(({ key }) => key)} keys={keys} />
          )}
        </Items>
      </Section>
      <Examples draft={draft} onChange={(examples) => set({ examples })} prism={prism} />
    </div>
  );
}

const types = kinds.map(({ type, name }) => [type, name] as const);

interface QuestionEditorProps {
  question: DraftQuestion;
  at: string;
  number: number;
  onChange: (question: DraftQuestion) => void;
  buttons: React.ReactNode;
  /** The keys of the other questions. */
  others: string[];
  /** Keys are shown. */
  keys: boolean;
}

function QuestionEditor({ question: q, at, number, onChange, buttons, others, keys }: QuestionEditorProps) {
  const { problems, disabled } = useEditing();
  const set = (part: Partial<DraftQuestion>) => onChange({ ...q, ...part });
  const { lists, hint } = kindOf(q);
  const form = (
    <div className="question-form">
      <Text path={`${at}.text`} long label="Text" placeholder="What does the model answer?" value={q.text}
        onChange={(text) => set({ text, ...(q.auto && { key: freeKey(text, 'question', others) }) })} />
      <div className="line two">
        <Choice path={`${at}.type`} label="Type" value={q.type} options={types} hint={hint}
          onChange={(type) => set({ type: type as QuestionType })} />
        <Key path={`${at}.key`} of={q} asked={keys} onChange={(key) => set({ key, auto: false })} />
      </div>
      {lists === 'options' && <Options question={q} at={at} onChange={set} keys={keys} />}
      {lists === 'levels' && (
        <Items<DraftLevel> items={q.levels} onChange={(levels) => set({ levels })} noun="level"
          nameOf={(l) => l.label || l.key} disabled={disabled} error={problems.get(`${at}.levels`)}
          add={{ label: 'Add level', make: () => newLevel(), most: limits.levels.most, enter: true }}>
          {(level, j, update, moves) => (
            <div className="line option-line">
              <Text path={`${at}.levels.${j}.label`} label="Level" value={level.label}
                onChange={(label) => update(labelled(level, label, 'level', q.levels))} />
              <Key path={`${at}.levels.${j}.key`} of={level} asked={keys}
                onChange={(key) => update({ ...level, key, auto: false })} />
              <Text path={`${at}.levels.${j}.value`} label="Value" inputMode="decimal" placeholder={String(j + 1)}
                value={level.value} onChange={(value) => update({ ...level, value })} />
              {moves}
            </div>
          )}
        </Items>
      )}
    </div>
  );
  return (
    <fieldset className="question">
      <legend className="unseen">Question {number} {q.text}</legend>
      <div className="question-head"><h3 aria-hidden="true">Question {number}</h3>{buttons}</div>
      <div className="question-sides">{form}<LiveAnswer of={q.key} text={q.text} /></div>
    </fieldset>
  );
}
