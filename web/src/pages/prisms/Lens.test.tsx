import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import type { Prism } from './calls';
import { ColumnEditor } from './Lens';
import { columnOf, draftColumn } from './lens';
import type { LensColumn, Question } from './model';

const questions: Question[] = [{ key: 'upset', type: 'yes_no', text: 'Upset?' }];
const prism = { version: { questions } } as Prism;

test('a column is calibrated by a checkbox', async () => {
  let sent: LensColumn | undefined;
  function Column() {
    const [column, setColumn] = useState(draftColumn({ name: 'p', question: 'upset', show: 'probability' }));
    sent = columnOf(column, questions);
    return <ColumnEditor column={column} at="columns.0" prism={prism} onChange={setColumn} buttons={null} />;
  }
  const user = userEvent.setup();
  render(<Column />);
  const box = screen.getByRole('checkbox', { name: /Calibrated/ });
  expect(sent).toEqual({ name: 'p', question: 'upset', show: 'probability' });
  await user.click(box);
  expect(sent).toEqual({ name: 'p', question: 'upset', show: 'probability', calibrated: true });
  await user.click(box);
  expect(sent).toEqual({ name: 'p', question: 'upset', show: 'probability' });
});
