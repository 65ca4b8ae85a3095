import { type Ref, useEffect, useMemo, useRef } from 'react';
import { Dot } from '@/answers/Chip';
import type { Question } from '@/answers/words';
import { Badge, count, type Findable, Finder, percent, Progress, shown } from '@/design';
import type { LabelValue } from '@/questions';
import type { QueuedResult } from './calls';
import type { milestone } from './figures';
import { answered, choicesOf, sought } from './labelling';

interface AskProps {
  question: Question;
  current: boolean;
  value: LabelValue | undefined;
  answer: QueuedResult['answers'][string] | undefined;
  /** How many labels count, and how many the next measure needs; undefined where that is not known. */
  goal: { total: number; next: ReturnType<typeof milestone> } | undefined;
  onLabel: (value: LabelValue) => void;
  /** Of a question with more values than keys: its input, the id of the text that is asked about, and where its keys lead. */
  finding: Finding;
}

export interface Finding {
  ref?: Ref<HTMLInputElement> | undefined;
  describedBy: string;
  onFocus: () => void;
  onLeave: () => void;
  onSide: (by: -1 | 1) => void;
}

/** A question with its values as buttons, which keys press of the current one, or with a search where keys do not suffice. */
export function Ask({ question, current, value, answer, goal, onLabel, finding }: AskProps) {
  const model = answered(answer);
  const choices = useMemo(() => choicesOf(question), [question]);
  const items = useMemo(() => (sought(choices)
    ? choices.map(({ value: key, label, more }): Findable => ({ value: String(key), label, more })) : undefined), [choices]);
  const ref = useRef<HTMLFieldSetElement>(null);
  const opened = useRef(false);
  useEffect(() => {
    // A page that opens stays at its top.
    if (current && opened.current) ref.current?.scrollIntoView?.({ block: 'nearest' });
    opened.current = true;
  }, [current]);
  const modelNote = model && <span className="soft label-model">model {percent(model.p)}</span>;
  return (
    <fieldset ref={ref} className={current ? 'label-ask current' : 'label-ask'} aria-current={current ? 'step' : undefined}>
      <legend><span>{question.text}</span> {value !== undefined && <Badge tone="good">labelled</Badge>}</legend>
      {items ? (
        <div className="label-finder">
          <Finder label={`Options: ${question.text}`} keys="/" items={items}
            chosen={value === undefined ? undefined : String(value)} onChoose={(item) => onLabel(item.value)}
            mark={(item) => <Dot question={question} option={item.value} />}
            note={(item) => (model?.value === item.value ? modelNote : undefined)} {...finding} />
        </div>
      ) : (
        <div className="label-values">
          {choices.map((choice) => (
            <button key={String(choice.value)} type="button" className="button label-value" aria-pressed={choice.value === value}
              onClick={() => onLabel(choice.value)}>
              {choice.keys && <kbd aria-hidden="true">{choice.keys}</kbd>}
              <span className="grow">{choice.label}</span>
              {model?.value === choice.value && modelNote}
            </button>
          ))}
        </div>
      )}
      <div className="label-goal">
        {goal?.next && <Progress label={`Labels ${goal.next.words}`} max={goal.next.need} value={goal.total} />}
        {goal && (
          <span className="soft num">
            {goal.next ? `${shown(goal.total)} of ${shown(goal.next.need)} labels ${goal.next.words}`
              : `${count(goal.total, 'label')} count`}
          </span>
        )}
      </div>
    </fieldset>
  );
}
