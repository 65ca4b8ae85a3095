import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Listed } from '@/data/results';
import { choiceOf, tagsOf } from '@/test/options';
import { serve } from '@/test/server';
import { LabelChosen } from './LabelChosen';

afterEach(() => { vi.unstubAllGlobals(); });

const questions = [choiceOf(3), tagsOf(26), { key: 'refund', type: 'yes_no', text: 'A refund?' }];

async function shown(n: number) {
  const calls = await serve('labeller', ({ path, method }) => {
    if (path === '/v1/prisms/bank') return Response.json({ slug: 'bank', version: { questions } });
    if (path === '/v1/results/r0/labels') {
      return Response.json({ labels: { intent: { value: 'o2' }, refund: { value: false }, about: { value: ['o2', 'o3'] } } });
    }
    return method === 'POST' ? Response.json({ labelled: 1, not_found: [], invalid: [] }) : undefined;
  });
  const results = Array.from({ length: n }, (_, i) => ({ id: `r${i}`, prism: 'bank', status: 'ok' }) as Listed);
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <LabelChosen results={results} onClose={() => {}} onDone={() => {}} />
    </QueryClientProvider>,
  );
  await screen.findByLabelText('What is wanted?');
  return calls;
}
const picked = (label: string) => screen.getByLabelText<HTMLSelectElement>(label).selectedOptions[0]!.text;

// spec: console-selection
describe('the dialog that labels', () => {
  it('one result begins with the label that it has, of each question', async () => {
    const calls = await shown(1);
    expect(picked('What is wanted?')).toBe('Option 2');
    fireEvent.change(screen.getByLabelText('What is wanted?'), { target: { value: '0' } });
    fireEvent.change(screen.getByLabelText('Question'), { target: { value: 'refund' } });
    expect(picked('A refund?')).toBe('No');
    fireEvent.change(screen.getByLabelText('A refund?'), { target: { value: '0' } });
    fireEvent.click(screen.getByRole('button', { name: 'Label 1 result' }));
    await waitFor(() => expect(calls.find(({ method }) => method === 'POST')?.body)
      .toEqual({ labels: [{ result_id: 'r0', question: 'refund', value: true }] }));
  });
  it('several results begins with none', async () => {
    const calls = await shown(2);
    expect(picked('What is wanted?')).toBe('What is right …');
    expect(calls.some(({ path }) => path.endsWith('/labels'))).toBe(false);
  });
  // spec: console-tags
  it('takes any number of options, or that none is right, which has to be said', async () => {
    const calls = await shown(1);
    fireEvent.change(screen.getByLabelText('Question'), { target: { value: 'about' } });
    const checked = () => [...screen.getByRole('group', { name: 'What is it about?' }).querySelectorAll('input')]
      .flatMap((box) => (box.checked ? box.labels![0]!.textContent : []));
    const none = () => screen.getByLabelText<HTMLInputElement>('None of these');
    const button = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Label 1 result' });
    expect(checked()).toEqual(['Option 2', 'Option 3']);
    fireEvent.click(screen.getByLabelText('Option 2'));
    fireEvent.click(screen.getByLabelText('Option 3'));
    expect([checked(), none().checked, button().disabled]).toEqual([[], false, true]);
    fireEvent.click(none());
    expect(button().disabled).toBe(false);
    fireEvent.click(screen.getByLabelText('Option 26'));
    fireEvent.click(screen.getByLabelText('Option 1'));
    expect(none().checked).toBe(false);
    fireEvent.click(button());
    await waitFor(() => expect(calls.find(({ method }) => method === 'POST')?.body)
      .toEqual({ labels: [{ result_id: 'r0', question: 'about', value: ['o1', 'o26'] }] }));
  });
});
