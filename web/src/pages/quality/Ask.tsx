import { type KeyboardEvent, type Ref, useEffect, useMemo, useRef } from 'react';
import { Dot } from '@/answers/Chip';
import type { Question } from '@/answers/words';
import type { QueuedResult } from '@/data/quality';
import { Badge, Button, count, type Findable, Finder, Icon, Kbd, onKeys, percent, Progress, shown } from '@/design';
import type { LabelValue } from '@/questions';
import { choicesOf, sought } from '@/questions/choices';
import type { milestone } from './figures';
import { saidBy } from './labelling';

interface AskProps {
  question: Question;
  current: boolean;
  value: LabelValue | undefined;
  answer: QueuedResult['answers'][string] | undefined;
  /** How many labels count, and how many the next measure needs; undefined where that is not known. */
  goal: { total: number; next: ReturnType<typeof milestone> } | undefined;
  onLabel: (value: LabelValue) => void;
  /** Of a question of which any number of options can be right: those that are chosen, and what chooses one or takes it back. */
  picked: readonly string[] | undefined;
  onPick: (value: string) => void;
  /** Of a question with more values than keys: its input, the id of the text that is asked about, and where its keys lead. */
  finding: Finding;
}

interface Finding {
  ref?: Ref<HTMLInputElement> | undefined;
  describedBy: string;
  onFocus: () => void;
  onLeave: () => void;
  onSide: (by: -1 | 1) => void;
}

/** A question with its values as buttons, which keys press of the current one, or with a search where keys do not suffice. */
export function Ask({ question, current, value, answer, goal, onLabel, picked, onPick, finding }: AskProps) {
  const model = useMemo(() => saidBy(answer), [answer]);
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
  const note = (key: string) => {
    const p = model.get(key);
    return p !== undefined && <span className="soft label-model">model {percent(p)}</span>;
  };
  const choose = (key: string | boolean) => (picked ? onPick(String(key)) : onLabel(key));
  const save = () => { if (picked?.length) onLabel([...picked]); };
  // On an option that was pressed, Enter saves, and does not press it again.
  const onKey = (event: KeyboardEvent) => {
    const inside = picked && !event.defaultPrevented && (event.target as Element).closest('.label-values, .finder');
    if (event.key !== 'Enter' || !inside) return;
    event.preventDefault();
    save();
  };
  return (
    <fieldset ref={ref} className={current ? 'label-ask current' : 'label-ask'} aria-current={current ? 'step' : undefined}
      onKeyDown={onKeys(onKey)}>
      <legend><span>{question.text}</span> {value !== undefined && <Badge tone="good">labelled</Badge>}</legend>
      {items ? (
        <div className="label-finder">
          <Finder label={`Options: ${question.text}`} keys="/" items={items}
            chosen={picked ?? (value === undefined ? undefined : String(value))} onChoose={(item) => choose(item.value)}
            mark={({ value: option }) => (
              <>{picked && <Box on={picked.includes(option)} />}<Dot question={question} option={option} /></>
            )}
            note={(item) => note(item.value)} {...finding} />
        </div>
      ) : (
        <div className="label-values">
          {choices.map((choice) => (
            <button key={String(choice.value)} type="button" className="button label-value" onClick={() => choose(choice.value)}
              aria-pressed={picked ? picked.includes(String(choice.value)) : choice.value === value}>
              {choice.keys && <kbd aria-hidden="true">{choice.keys}</kbd>}
              <span className="grow">{choice.label}</span>
              {picked && <Box on={picked.includes(String(choice.value))} />}
              {note(String(choice.value))}
            </button>
          ))}
        </div>
      )}
      {picked && (
        <div className="row label-save">
          <Button small variant="primary" disabled={picked.length === 0} onClick={save}>
            Save {picked.length === 0 ? 'what is chosen' : count(picked.length, 'option')} <Kbd keys="Enter" />
          </Button>
          <Button small onClick={() => onLabel([])}
            aria-pressed={Array.isArray(value) && value.length === 0 && picked.length === 0}>
            None of these <Kbd keys="0" />
          </Button>
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

/** Whether an option is chosen among any number of them. */
const Box = ({ on }: { on: boolean }) =>
  <span className="label-box" data-on={on || undefined}>{on && <Icon name="check" />}</span>;
