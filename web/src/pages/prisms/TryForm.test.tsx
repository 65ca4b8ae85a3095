import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, expect, it, vi } from 'vitest';
import { nothing, TryForm } from './TryForm';

afterEach(cleanup);

function Form({ onSend }: { onSend: () => void }) {
  const [typed, setTyped] = useState({ ...nothing, fields: { gone: 'of another version' } });
  return (
    <TryForm fields={[{ key: 'subject' }, { key: 'message' }]} typed={typed} onSend={onSend} busy={false} verb="Ask the model"
      onType={(now) => setTyped(now as typeof typed)} />
  );
}

it('asks once there is a text in one of the fields', () => {
  const onSend = vi.fn();
  render(<Form onSend={onSend} />);
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Ask the model' });
  const type = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });
  type('Context', 'A shop');
  type('subject', ' \n');
  expect([button.disabled, screen.getByText('Type a text first.').tagName]).toEqual([true, 'SPAN']);
  fireEvent.keyDown(screen.getByLabelText('subject'), { key: 'Enter', ctrlKey: true });
  expect(onSend).not.toHaveBeenCalled();
  type('message', 'Where is it?');
  expect([button.disabled, screen.queryByText('Type a text first.')]).toEqual([false, null]);
  fireEvent.keyDown(screen.getByLabelText('message'), { key: 'Enter', ctrlKey: true });
  expect(onSend).toHaveBeenCalledOnce();
});
