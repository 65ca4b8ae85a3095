import { render } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { Schemas } from '@/api';
import type { Listed } from '@/data/results';
import { columnsOf } from './columns';

const prism = {
  slug: 'tickets', lens: { columns: [] }, version: { questions: [
    { key: 'topic', type: 'choice', text: 'What is it about?', options: [{ key: 'billing', label: 'Billing' }] },
    { key: 'refund', type: 'yes_no', text: 'A refund?' },
  ] },
} as unknown as Schemas['Prism'];

// spec: console-results-page
it('answers of several prisms have their probabilities too', () => {
  const row = { prism: 'tickets', error: null, answers: {
    topic: { type: 'choice', value: 'billing', confidence: 0.5, probabilities: { billing: 0.82, other: 0.18 } },
    refund: { type: 'yes_no', probability: 0.1 },
  } } as unknown as Listed;
  const column = columnsOf(undefined, [prism], () => false, undefined).find(({ id }) => id === 'answers')!;
  const { container } = render(<>{column.cell(row)}</>);
  expect([...container.querySelector('.results-few')!.children].map(({ textContent }) => textContent!.trim()))
    .toEqual(['Billing 82%', 'Refund No 90%']);
});
