import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { answerOf, choiceOf, sizes } from '@/test/options';
import { Answers } from './Answers';
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
