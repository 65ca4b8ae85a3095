import { createRootRoute } from '@tanstack/react-router';
import { fireEvent, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Listed } from '@/data/results';
import { open, serve } from '@/test/server';
import { DownloadChosen, DownloadResults, headingOf } from './Downloads';

afterEach(() => { vi.unstubAllGlobals(); });

const columns = [
  { name: 'how_angry', question: 'anger', show: 'answer' },
  { name: 'angry_calibrated', question: 'anger', show: 'average', calibrated: true },
  { name: 'angry', question: 'anger', show: 'average' }, { name: 'topic_p', question: 'topic', show: 'probability' },
  { name: 'billing', question: 'topic', show: 'probability', option: 'billing' },
];

async function shown(page: () => React.ReactNode) {
  await serve('reader', ({ path }) => (path === '/v1/prisms/desk'
    ? Response.json({ slug: 'desk', lens: { columns } }) : undefined));
  open(createRootRoute({ component: page }), '/');
  return screen.findByRole('button', { name: 'Download' });
}
const note = () => screen.queryByText(/The table is sorted/)?.textContent;

// spec: console-selection
describe('a download of a table that is sorted', () => {
  it.each([
    ['-anger@average', 'by Anger, most first', 'Angry, largest to smallest'],
    ['anger@average', 'by Anger, least first', 'Angry, smallest to largest'],
    ['-topic', 'by Topic, most first', 'Topic p, largest to smallest'],
    ['topic.billing', 'by Topic: billing, least first', 'Billing, smallest to largest'],
  ])('by %s says that the file is not, and names the column', async (sort, order, column) => {
    await shown(() => <DownloadResults search={{ prism: 'desk', sort }} onClose={() => {}} />);
    await screen.findByText(/In Excel/);
    expect(note()).toBe(`The table is sorted ${order}; the file is oldest first. In Excel, sort it by the column ${column}.`);
  });
  it('names the column as the file has it', async () => {
    await shown(() => <DownloadResults search={{ prism: 'desk', sort: '-topic' }} onClose={() => {}} />);
    await screen.findByText('Topic p');
    fireEvent.change(screen.getByRole('combobox', { name: 'Format' }), { target: { value: 'csv' } });
    expect(await screen.findByText('topic_p')).toBeTruthy();
    expect([headingOf('topic_probability'), headingOf('Topic_p'), headingOf('my topic'), headingOf('__')])
      .toEqual(['Topic probability', 'Topic_p', 'my topic', '__']);
  });
  it('of selected results says so too', async () => {
    const results = [{ id: '1', prism: 'desk' } as Listed];
    await shown(() => <DownloadChosen results={results} sort="-anger@average" onClose={() => {}} />);
    expect((await screen.findByText('Angry')).closest('.note')!.textContent).toContain('the file is oldest first');
  });
  it('by a number that no column has says so', async () => {
    await shown(() => <DownloadResults search={{ prism: 'desk', sort: '-topic.account' }} onClose={() => {}} />);
    expect(await screen.findByText(/It has no column with these numbers/)).toBeTruthy();
  });
  it.each([undefined, '-@created', '@created'])('by %s has nothing to say', async (sort) => {
    await shown(() => <DownloadResults search={{ prism: 'desk', sort }} onClose={() => {}} />);
    expect(note()).toBeUndefined();
  });
});
