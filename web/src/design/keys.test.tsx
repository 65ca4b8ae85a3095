import { fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { expect, it } from 'vitest';
import { onKeys, onPageKeys, useTyped } from './keys';

const sources = import.meta.glob<string>('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true });
const own = Object.entries(sources).filter(([file]) => !/\.test\.tsx?$|\/keys\.ts$/.test(file));

/** The tag that begins at a place of a source. Of what is between braces, > ends no tag. */
function tagAt(text: string, begin: number): string {
  let depth = 0;
  for (let at = begin; at < text.length; at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}') depth--;
    else if (text[at] === '>' && depth === 0) return text.slice(begin, at);
  }
  return text.slice(begin);
}

it.each(own)('%s hears no key of an input method', (_, text) => {
  for (const [handler] of text.matchAll(/\bonKey(Down|Up|Press)(Capture)?=(?!\{onKeys\().*/g)) {
    expect.soft(handler, 'wrap it in onKeys').toBe('');
  }
  for (const [listener] of text.matchAll(/.*(addEventListener\(\s*['"`]key|\.onkey(down|up|press)\b).*/g)) {
    expect.soft(listener, 'use onPageKeys').toBe('');
  }
});

it.each(own)('%s finds and filters by whole words', (_, text) => {
  for (const { 0: begin, index } of text.matchAll(/<(input|Input)\b/g)) {
    const tag = tagAt(text, index + begin.length);
    if (!/type="search"|role="combobox"/.test(tag)) continue;
    expect.soft(tag, 'its value and handlers are those of useTyped').not.toMatch(/\b(onChange|onInput|value)=/);
    expect.soft(tag).toMatch(/\{\.\.\.(typed|useTyped\(.*\))\}/);
  }
});

it('an element and the page get no key while a text is composed', () => {
  const heard: string[] = [];
  render(<input aria-label="Text" onKeyDown={onKeys((event) => heard.push(event.key))} />);
  const stop = onPageKeys((event) => heard.push(`page ${event.key}`));
  const input = screen.getByLabelText('Text');
  fireEvent.keyDown(input, { key: 'Enter', isComposing: true });
  fireEvent.keyDown(input, { key: 'Enter', keyCode: 229 });
  expect(heard).toEqual([]);
  fireEvent.keyDown(input, { key: 'Enter', keyCode: 13 });
  expect(heard).toEqual(['Enter', 'page Enter']);
  stop();
  fireEvent.keyDown(input, { key: 'a', keyCode: 65 });
  expect(heard).toEqual(['Enter', 'page Enter', 'a']);
});

it('a text is shown while it is composed, and told when it is a word', () => {
  const told: string[] = [];
  const Filter = () => {
    const [text, setText] = useState('');
    return <input aria-label="Text" {...useTyped(text, (next) => { told.push(next); setText(next); })} />;
  };
  render(<Filter />);
  const input = screen.getByLabelText<HTMLInputElement>('Text');
  for (const value of ['n', 'ni', '你']) {
    fireEvent.input(input, { target: { value }, isComposing: true });
    expect(input.value).toBe(value);
  }
  expect(told).toEqual([]);
  fireEvent.compositionEnd(input, { data: '你' });
  expect([told, input.value]).toEqual([['你'], '你']);
  fireEvent.input(input, { target: { value: '你!' } });
  expect([told, input.value]).toEqual([['你', '你!'], '你!']);
});
