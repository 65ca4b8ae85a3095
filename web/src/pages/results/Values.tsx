import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { Checkbox, find, Input, onKeys, shown, useTyped } from '@/design';

export interface ValueProps {
  legend: string;
  values: { value: string; label: string; mark?: ReactNode; count?: number | undefined }[];
  chosen: readonly string[];
  onPress: (value: string, on: boolean) => void;
}

export const few = 12; // values that are seen at once; among more, one is found by its words

/** Values with how many results have each. Of many, those that are chosen stay while others are found. */
export function Values({ legend, values, chosen, onPress }: ValueProps) {
  const [text, setText] = useState('');
  const list = useRef<HTMLFieldSetElement>(null);
  const typed = useTyped(text, setText);
  const found = new Set(find(values, text));
  const drawn = values.filter((one) => found.has(one) || chosen.includes(one.value));
  const boxes = () => [...list.current!.querySelectorAll('input')];
  /** The arrows go through the boxes, and from the search to the first one found. */
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined || values.length <= few) return;
    event.preventDefault();
    const all = boxes();
    const at = all.indexOf(event.target as HTMLInputElement);
    const to = at < 0 ? drawn.findIndex((one) => found.has(one)) : at + by;
    (all[to] ?? (at === 0 ? list.current!.previousElementSibling?.querySelector('input') : undefined))?.focus();
  };
  return (
    <div className="filter-find" onKeyDown={onKeys(onKey)}>
      {values.length > few && (
        <Input label={`Find in ${legend}`} hideLabel placeholder={`Find one of ${shown(values.length)}`} {...typed}
          spellCheck={false} />
      )}
      <fieldset ref={list} className={values.length > few ? 'filter-values many' : 'filter-values'}>
        <legend>{legend}</legend>
        {drawn.map(({ value, label, mark, count }) => (
          <Checkbox key={value} checked={chosen.includes(value)}
            label={
              <>
                <span className="grow">{mark}{mark && ' '}{label}</span>
                {count !== undefined && <span className="soft num">{shown(count)}</span>}
              </>
            }
            onChange={({ target }) => onPress(value, target.checked)} />
        ))}
        {values.length === 0 && <p className="soft">None</p>}
        {values.length > 0 && found.size === 0 && <p className="soft">Nothing with these words</p>}
      </fieldset>
    </div>
  );
}
