import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import type { Operation, Schema } from './document';
import { Inline, Markdown } from './markdown';
import { Members, Schemas } from './Members';
import { TryIt } from './TryIt';

const html = (node: React.ReactNode) => render(node).container.innerHTML;
const call: Operation = {
  id: 'call', method: 'GET', path: '/v1/{id}', summary: 'Call', description: '', parameters: [], body: undefined, answers: [],
  errors: [], needsKey: true,
};

test('text is text', () => {
  expect(html(<Markdown text="a < b & `<c>`" />)).toBe('<p>a &lt; b &amp; <code>&lt;c&gt;</code></p>');
  expect(html(<Markdown text={'a\n**b**\n\nc'} />)).toBe('<p>a <strong>b</strong></p><p>c</p>');
  expect(html(<Markdown text={'- a\n- `b`'} />)).toBe('<ul><li>a</li><li><code>b</code></li></ul>');
  expect(html(<Inline text="**a** b" />)).toBe('<strong>a</strong> b');
});

test('a table has heads and cells', () => {
  render(<Markdown text={'| a | b |\n|---|---|\n| 1 | <2> |'} />);
  expect(screen.getAllByRole('columnheader').map((cell) => cell.textContent)).toEqual(['a', 'b']);
  expect(screen.getAllByRole('cell').map((cell) => cell.textContent)).toEqual(['1', '<2>']);
});

test('objects open in place, as deep as they are', async () => {
  const tree: Schema = { properties: {
    children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } }, id: { type: 'string', format: 'uuid' },
  } };
  render(<Schemas value={{ Tree: tree }}><Members prefix="a"
    rows={[{ name: 'tree', schema: { $ref: '#/components/schemas/Tree' }, required: true, description: '' }]} /></Schemas>);
  expect(screen.queryByText('id')).toBeNull();
  await userEvent.click(screen.getByText('Members of', { exact: false }));
  expect(screen.getByText('id')).toBeTruthy();
  await userEvent.click(screen.getAllByText('Members of', { exact: false })[1]!);
  expect(screen.getAllByText('id')).toHaveLength(2);
  expect(document.getElementById('a.tree.children.id')).toBeTruthy();
});

test('the objects around a member open when the address names it', async () => {
  const either: Schema = { oneOf: [{ $ref: '#/components/schemas/A' }, { properties: { c: { properties: { d: {} } } } }] };
  const rows = [{ name: 'x', schema: either, required: false, description: '' }];
  render(<Schemas value={{ A: { properties: { b: {} } } }}><Members prefix="p" rows={rows} /></Schemas>);
  location.hash = '#p.x.2.c.d';
  await waitFor(() => expect(document.getElementById('p.x.2.c.d')).toBeTruthy());
  expect(document.getElementById('p.x.A.b')).toBeNull();
  location.hash = '#p.x.A.b';
  await waitFor(() => expect(document.getElementById('p.x.A.b')).toBeTruthy());
  location.hash = '';
});

test('a parameter is asked for as its schema says', () => {
  const query = (name: string, schema: Schema, example?: unknown) => ({ name, in: 'query' as const, schema, example });
  render(<TryIt operation={{ ...call, parameters: [
    query('known', {}, 'triage'), query('id', { format: 'uuid' }, '0199f3a2'), query('limit', { default: 50 }),
    query('to', { format: 'date-time' }),
    query('status', { enum: ['ok', 'failed'] }, 'failed'), query('archived', { type: 'boolean', default: false }),
    { name: 'If-Match', in: 'header', schema: {}, example: '"a"' },
  ] }} />);
  const control = (name: string) => document.querySelector<HTMLInputElement & HTMLSelectElement>(`[name$="${name}"]`)!;
  expect(control('known').value).toBe('triage');
  expect([control('id').value, control('id').placeholder]).toEqual(['', 'uuid']);
  expect(control('limit').placeholder).toBe('50 (default)');
  expect(control('to').placeholder).toBe('2026-12-31T23:59:59Z');
  expect([control('status').value, [...control('status').options].map((option) => option.text)]).toEqual([
    'failed', ['not sent', 'ok', 'failed'],
  ]);
  expect([...control('archived').options].map((option) => option.text)).toEqual(['false (default)', 'true', 'false']);
  expect(control('If-Match').value).toBe('');
});

test('no key is asked for where none is needed', () => {
  render(<TryIt operation={{ ...call, needsKey: false }} />);
  expect(document.querySelector('input[type=password]')).toBeNull();
});

test('a key is typed once, and is in no attribute', async () => {
  render(<><TryIt operation={call} /><TryIt operation={call} /></>);
  const [one, other] = document.querySelectorAll<HTMLInputElement>('input[type=password]');
  await userEvent.type(one!, 'prism_secret');
  expect(other!.value).toBe('prism_secret');
  expect(document.documentElement.outerHTML).not.toContain('prism_secret');
});

test.each([
  ['throws', () => { throw new DOMException('', 'TimeoutError'); }, /No answer within 75 seconds\.$/, undefined],
  ['breaks off', () => {
    let pulls = 0;
    return new Response(
      new ReadableStream({ pull(c) { if (pulls++) c.error(); else c.enqueue(new TextEncoder().encode('half')); } }),
    );
  }, /It broke off before its end\.$/, 'half'],
  ['is no text', () => new Response('PNG', { headers: { 'Content-Type': 'image/png' } }), /Only text is shown\.$/, undefined],
] as const)('says so when an answer %s', async (_, answer, outcome, shown) => {
  vi.stubGlobal('fetch', vi.fn(async () => answer()));
  vi.stubGlobal('Request', class { constructor(readonly url: string) {} });
  render(<TryIt operation={{ ...call, path: '/v1/prisms', needsKey: false }} />);
  await userEvent.click(screen.getByRole('button', { name: 'Send' }));
  await vi.waitFor(() => expect(document.querySelector('.outcome')!.textContent).toMatch(outcome), 30_000);
  expect(screen.queryByRole('group', { name: 'Answer' })?.textContent).toBe(shown);
  vi.unstubAllGlobals();
});
