import { type ClipboardEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { lackingKey } from '@/answers/words';
import { limits } from '@/api/limits';
import { type DraftOption, type DraftQuestion, newOption, optionsOfLines } from '@/definitions/model';
import { mostOptions } from '@/definitions/problems';
import { Button, Checkbox, count, shown } from '@/design';
import { kindOf } from '@/questions';
import { Text, useEditing } from './Control';
import { Items } from './Items';
import { Key, labelled } from './Key';

const many = 20; // options from which on a chat model is asked for groups of them

interface Props {
  question: DraftQuestion;
  at: string;
  onChange: (part: Partial<DraftQuestion>) => void;
  /** Keys are shown. */
  keys: boolean;
}

/** The options of a question. A list that is pasted into one of them makes an option of each line. */
export function Options({ question: q, at, onChange, keys }: Props) {
  const { problems, disabled } = useEditing();
  const [grouping, setGrouping] = useState(false);
  const [said, setSaid] = useState('');
  const list = useId();
  const most = mostOptions(q);
  const { lacks } = kindOf(q);
  const taken = lacks && q.insufficient ? [lackingKey] : [];
  const groups = [...new Set(q.options.flatMap(({ group }) => group || []))];
  const grouped = limits.group !== undefined && (grouping || groups.length > 0);
  // An option that was drawn before the others changed looks them up here.
  const now = useRef({ options: q.options, onChange });
  useLayoutEffect(() => { now.current = { options: q.options, onChange }; });
  const paste = (event: ClipboardEvent, j: number) => {
    const { options, onChange } = now.current;
    const text = event.clipboardData.getData('text/plain');
    if (!/[\r\n]/.test(text.trim())) return;
    event.preventDefault();
    // Options that nobody wrote in yet make place.
    const kept = options.filter((option) => option.label || option.description || !option.auto);
    const made = optionsOfLines(text, kept, taken);
    const added = made.options.slice(0, Math.max(0, most - kept.length));
    const here = options.slice(0, j + 1).filter((option) => kept.includes(option)).length;
    onChange({ options: [...kept.slice(0, here), ...added, ...kept.slice(here)] });
    const left = made.options.length - added.length;
    setSaid([
      `${count(added.length, 'option')} added.`, made.again && `${count(made.again, 'line')} there already.`,
      left && `${count(left, 'line')} left out: at most ${shown(most)} options.`,
    ].filter(Boolean).join(' '));
  };
  return (
    <>
      <Items<DraftOption> items={q.options} onChange={(options) => onChange({ options })} noun="option"
        nameOf={(o) => o.label || o.key} disabled={disabled} error={problems.get(`${at}.options`)}
        add={{ label: 'Add option', make: () => newOption(), most, enter: true }} uses={[at, keys, grouped, q.insufficient]}>
        {(option, j, update, moves) => (
          <div className={grouped ? 'line option-line grouped' : 'line option-line'}>
            <Text path={`${at}.options.${j}.label`} label="Option" value={option.label} onPaste={(event) => paste(event, j)}
              onChange={(label) => update(labelled(option, label, 'option', now.current.options, taken))} />
            <Key path={`${at}.options.${j}.key`} of={option} asked={keys}
              onChange={(key) => update({ ...option, key, auto: false })} />
            <Text path={`${at}.options.${j}.description`} long label="When it is right" value={option.description}
              onChange={(description) => update({ ...option, description })} />
            {grouped && (
              <Text path={`${at}.options.${j}.group`} label="Group" value={option.group ?? ''} list={list}
                maxLength={limits.group} onChange={(group) => update({ ...option, group })} />
            )}
            {moves}
          </div>
        )}
      </Items>
      {grouped && <datalist id={list}>{groups.map((group) => <option key={group} value={group} />)}</datalist>}
      {!disabled && (
        <div className="row">
          <p className="soft" role="status">
            {said || `A pasted list makes an option of each line, up to ${shown(most)}.`}
          </p>
          {limits.group !== undefined && groups.length === 0 && (q.options.length > many || grouping) && (
            <Button small variant="quiet" aria-pressed={grouping} onClick={() => setGrouping(!grouping)}>
              {grouping ? 'Hide groups' : 'Show groups'}
            </Button>
          )}
        </div>
      )}
      {grouped && !disabled && (
        <p className="soft">
          A chat model is asked for the options of a group together, and then for the most probable ones of all. Without groups,
          options that follow each other are one.
        </p>
      )}
      {lacks && (
        <Checkbox label="Insufficient information" hint="Adds the option that the text does not say enough to choose."
          checked={q.insufficient} disabled={disabled}
          onChange={(event) => onChange({ insufficient: event.target.checked })} />
      )}
    </>
  );
}
