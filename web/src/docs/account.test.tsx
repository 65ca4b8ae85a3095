import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { session } from '@/api/session';
import { json, type Operation } from './document';
import { forgetKey } from './key';
import { TryIt } from './TryIt';

const call: Operation = {
  id: 'call', method: 'POST', path: '/v1/prisms/{prism}/versions/{version}', summary: 'Call', description: '', answers: [],
  errors: [], needsKey: true,
  parameters: [
    { name: 'prism', in: 'path', required: true, schema: {}, example: 'triage' },
    { name: 'version', in: 'path', required: true, schema: {}, example: 1 },
  ],
  body: { type: json, schema: {}, examples: [{ summary: 'Text', value: { fields: { message: 'Hello' } } }] },
};
const member = { id: 'm', name: 'Ada', role: 'owner' };
const prism = (slug: string, latest: number, field: string) => ({
  slug, name: null, latest_version: latest, lens: { columns: [] },
  version: { version: latest, instructions: null, model: null, fields: [{ key: field }], questions: [] },
});

test('a session fills the form with its key and the prisms of the account, and the key is nowhere to be read', async () => {
  localStorage.setItem('prism.session', '');
  let made = 0;
  const sent: { path: string; key: string | null; body: string }[] = [];
  vi.stubGlobal(
    'Request',
    class extends Request { constructor(path: string, init: RequestInit) { super(new URL(path, 'http://p.test'), init); } },
  );
  vi.stubGlobal('fetch', vi.fn(async (to: Request | string, init?: RequestInit) => {
    const request = to instanceof Request ? to : new Request(to, init);
    const { pathname: path, search } = new URL(request.url);
    const answer = (body: object) => new Response(JSON.stringify(body), { headers: { 'Content-Type': json } });
    if (path === '/console/session') return answer({ accounts: [{ id: 'a', name: 'demo', member }] });
    if (path === '/console/session/key') return answer({
      key: `prism_secret_${++made}`, expires_at: new Date(Date.now() + 900_000).toISOString(), account: { id: 'a', name: 'demo' },
      member,
    });
    if (path === '/v1/prisms') return answer(search.includes('cursor')
      ? { data: [prism('spam', 1, 'mail')], next_cursor: null } : { data: [prism('support', 3, 'text')], next_cursor: 'next' });
    sent.push({ path, key: request.headers.get('Authorization'), body: await request.text() });
    return answer({});
  }));
  render(<TryIt operation={call} />);
  await waitFor(() => expect(screen.getByLabelText<HTMLSelectElement>(/^prism in path/).value).toBe('support'));
  expect(document.querySelector('input[type=password]')).toBeNull();
  const body = () => screen.getByLabelText<HTMLTextAreaElement>('Body').value;
  const version = () => [...screen.getByLabelText<HTMLSelectElement>(/^version in path/).options].map((option) => option.value);
  expect([JSON.parse(body()), version()]).toEqual([{ fields: { text: 'Hello' } }, ['3', '2', '1']]);

  await userEvent.selectOptions(screen.getByLabelText(/^prism in path/), 'spam');
  expect([JSON.parse(body()), version()]).toEqual([{ fields: { mail: 'Hello' } }, ['1']]);
  await userEvent.clear(screen.getByLabelText('Body'));
  await userEvent.type(screen.getByLabelText('Body'), '7');
  await userEvent.selectOptions(screen.getByLabelText(/^prism in path/), 'support');
  expect(body()).toBe('7'); // what was typed stays
  await userEvent.click(screen.getByRole('button', { name: 'Reset body' }));
  expect(JSON.parse(body())).toEqual({ fields: { text: 'Hello' } });

  await userEvent.click(screen.getByRole('button', { name: 'Send' }));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]).toMatchObject({ path: '/v1/prisms/support/versions/3', key: 'Bearer prism_secret_1' });
  const kept = () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state,
    document.documentElement.outerHTML,
    [...document.querySelectorAll<HTMLInputElement>('input, textarea, select')].map((control) => control.value)]);
  expect(kept()).not.toContain('prism_secret');

  session.forget(); // the page was left
  await userEvent.click(screen.getByRole('button', { name: 'Send' }));
  await waitFor(() => expect(sent[1]?.key).toBe('Bearer prism_secret_2'));

  await userEvent.selectOptions(screen.getByLabelText('Key'), 'Another key');
  const input = document.querySelector<HTMLInputElement>('input[type=password]')!;
  await userEvent.type(input, 'prism_other');
  await userEvent.click(screen.getByRole('button', { name: 'Send' }));
  await waitFor(() => expect(sent[2]?.key).toBe('Bearer prism_other'));
  forgetKey();
  expect(input.value).toBe('');
  expect(kept()).not.toContain('prism_other');
});
