import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { Schemas } from '@/api';
import { answerOf, choiceOf, sizes, tagged, tagsOf, tagSizes } from '@/test/options';
import { Answers, LensChip } from './Answers';
import { Chip } from './Chip';
import { hueOf, labelOf } from './words';

// spec: console-many-options
it.each(sizes)('an answer among %i options has its label and hue, in words, as a chip and as bars', (n) => {
  const question = choiceOf(n);
  const answer = answerOf(question, n - 1);
  const { container } = render(
    <>
      <Answers answers={{ intent: answer }} questions={[question]} />
      <Chip answer={answer} question={question} bounds={{ no: 0.4, yes: 0.6 }} />
    </>,
  );
  expect(screen.getAllByText(`Option ${n}`, { selector: 'strong' })).toHaveLength(1);
  expect(container.querySelector('.chip')!.textContent).toBe(` Option ${n}50%`);
  expect(container.querySelector('.chip')!.getAttribute('data-hue')).toBe(String(((n - 1) % 8) + 1));
  expect(container.querySelectorAll('.bars li').length).toBeLessThanOrEqual(9);
});

it.each(sizes)('each of %i options is looked up by its key', (n) => {
  const question = choiceOf(n);
  expect(question.options.map(({ key }) => [labelOf(question, key), hueOf(question, key)])).toEqual(
    question.options.map(({ label }, i) => [label, (i % 8) + 1]),
  );
  expect(labelOf(question, 'gone')).toBe('gone');
});

// spec: console-results-page
it('an answer has what was right beside it, with a tick where that is what was answered', () => {
  const question = choiceOf(3);
  const label = (value: string | boolean) => ({ value }) as Schemas['Label'];
  const { container } = render(
    <Answers answers={{
      intent: answerOf(question, 1), a: { type: 'yes_no', probability: 0.1 }, b: { type: 'yes_no', probability: 0.55 },
      c: { type: 'yes_no', probability: 0.9 },
    }} questions={[question]} labels={{ intent: label('o3'), a: label(false), b: label(true) }} />,
  );
  const items = [...container.querySelectorAll('.answers > li')];
  const right = (item: Element) => /Right: (Option \d|Yes|No)/.exec(item.textContent!)?.[1];
  expect(items.map((item) => [right(item), item.querySelector('.badge.good') !== null])).toEqual([
    ['Option 3', false], ['No', true], ['Yes', false], [undefined, false],
  ]);
});

it('a chip has the probability of what it says', () => {
  const bounds = { no: 0.4, yes: 0.6 };
  const question = { key: 'refund', type: 'yes_no', text: 'A refund?' } as const;
  const columns = [
    { name: 'r', question: 'refund', show: 'answer' }, { name: 'p', question: 'refund', show: 'probability' },
  ] as Schemas['Column'][];
  const { container } = render(<>
    {[0.9, 0.1, 0.45].map((probability) => (
      <Chip key={probability} answer={{ type: 'yes_no', probability }} question={question} bounds={bounds} />
    ))}
    <LensChip name="r" answers={{ r: 'no', p: 0.1 }} columns={columns} questions={[question]} />
  </>);
  expect([...container.querySelectorAll('.chip')].map((chip) => chip.textContent))
    .toEqual(['Yes90%', 'No90%', 'Unsure: No55%', 'No90%']);
});

// spec: console-tags
it.each(tagSizes)('an answer with any number of %i options has them in words, as chips and as bars with what is right', (n) => {
  const question = tagsOf(n);
  const found = Object.fromEntries(question.options.slice(0, 5).map(({ key }, i) => [key, 0.9 - i / 10]));
  const answer = tagged(question, found);
  const last = question.options.at(-1)!;
  const { container } = render(<>
    <Answers answers={{ about: answer }} questions={[question]}
      labels={{ about: { value: ['o1', last.key] } as Schemas['Label'] }} />
    <Chip answer={answer} question={question} bounds={{ no: 0, yes: 0.5 }} />
  </>);
  const named = ['Option 1 90%', n === 2 ? 'Option 2 80%' : 'Option 2 80% +3 more'];
  expect([...container.querySelector('.chips:not(.all)')!.children].map((chip) => chip.textContent!.trim())).toEqual(named);
  expect(container.querySelector('.chips.all')!.children).toHaveLength(Math.min(n, 5));
  // The most probable eight, and what the label says, however little probability it has.
  const bars = [...container.querySelectorAll('.bars li')];
  expect(bars).toHaveLength(n === 2 ? 2 : 9);
  expect(bars.filter((bar) => bar.classList.contains('chosen'))).toHaveLength(Math.min(n, 5));
  const right = bars.filter((bar) => bar.querySelector('.bar-right'));
  expect(right.map((bar) => bar.querySelector('.bar-label')!.textContent)).toEqual(
    [expect.stringContaining('Option 1'), expect.stringContaining(last.label)],
  );
  expect(container.querySelector<HTMLElement>('.bars i')!.style.left).toBe('50%');
  expect(container.textContent).toContain(`Right: Option 1, ${last.label}`);
});

// spec: console-tags
it('an answer without an option says so, in the drawer, as a chip and in a column of the Lens', () => {
  const question = tagsOf(2);
  const columns = [{ name: 'about', question: 'about', show: 'answer' }] as Schemas['Column'][];
  render(<>
    <Answers answers={{ about: tagged(question, {}) }} questions={[question]}
      labels={{ about: { value: [] as string[] } as Schemas['Label'] }} />
    <Chip answer={tagged(question, {})} question={question} bounds={{ no: 0, yes: 0.5 }} />
    <LensChip name="about" answers={{ about: '' }} columns={columns} questions={[question]} />
    <LensChip name="about" answers={{ about: 'o2; o1' }} columns={columns} questions={[question]} />
  </>);
  expect(screen.getAllByText('None')).toHaveLength(3);
  expect(screen.getByText('Right: None').closest('.badge')).toBeTruthy();
  expect(screen.getByTitle('Option 2 Option 1')).toBeTruthy();
});
