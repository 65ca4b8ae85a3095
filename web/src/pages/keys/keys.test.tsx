import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Schemas } from '@/api';
import { CreateKey, expiry, KeyMade } from './CreateKey';
import { stateOf } from './Keys';

const text = 'prism_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
const made: Schemas['CreatedApiKey'] = {
  id: '01a20558-8efb-7b51-b1f5-71d32ed809fb', name: 'production', prefix: 'prism_aaaa', role: 'caller',
  created_at: '2026-11-22T12:00:00.000Z',
  expires_at: null, last_used_at: null, revoked_at: null, key: text,
};
const now = Date.parse('2026-11-22T12:00:00.000Z');

afterEach(() => vi.unstubAllGlobals());

/** A server that makes keys, or says what is wrong; the bodies it was sent. */
function serve(answer: () => Response) {
  const bodies: unknown[] = [];
  vi.stubGlobal('fetch', async (input: string | Request) => {
    if (!(input instanceof Request)) return Response.json({
      key: 'session', expires_at: new Date(Date.now() + 900_000).toISOString(), account: { id: 'a', name: 'a' },
      member: { name: 'Ada', role: 'owner' },
    });
    if (input.method === 'POST') bodies.push(await input.clone().json());
    return answer();
  });
  return bodies;
}

function Flow({ client }: { client: QueryClient }) {
  const [key, setKey] = useState<Schemas['CreatedApiKey']>();
  const [closed, setClosed] = useState(false);
  return (
    <QueryClientProvider client={client}>
      {key ? !closed && <KeyMade made={key} onClose={() => setClosed(true)} /> : <CreateKey onClose={() => {}} onMade={setKey} />}
    </QueryClientProvider>
  );
}

describe('creating a key', () => {
  it('shows its text once, and nowhere after its dialog is closed', async () => {
    const bodies = serve(() => Response.json(made, { status: 201 }));
    const client = new QueryClient();
    render(<Flow client={client} />);
    fireEvent.change(screen.getByLabelText('Name'), { target: { value: ' production ' } });
    fireEvent.click(screen.getByRole('button', { name: 'Create key' }));
    expect(await screen.findByText(text)).toBeTruthy();
    expect(bodies).toEqual([{ name: 'production', role: 'caller', expires_at: null }]);
    fireEvent.click(screen.getByRole('button', { name: 'Done' }));
    expect(document.documentElement.outerHTML).not.toContain(text);
    const kept = [
      ...client.getQueryCache().getAll().map((q) => q.state), ...client.getMutationCache().getAll().map((m) => m.state),
    ];
    expect(JSON.stringify([kept, { ...localStorage }, { ...sessionStorage }, location.href, history.state])).not.toContain(text);
  });

  it('asks for a name before it asks the server', async () => {
    const bodies = serve(() => Response.json(made));
    render(<Flow client={new QueryClient()} />);
    fireEvent.click(screen.getByRole('button', { name: 'Create key' }));
    const field = screen.getByLabelText('Name');
    expect(field.getAttribute('aria-invalid')).toBe('true');
    expect(
      document.getElementById(field.getAttribute('aria-describedby')!.split(' ')[1]!)?.textContent,
    ).toBe('Say what the key is for.');
    expect(bodies).toEqual([]);
  });

  it('keeps what was typed when the server refuses, and shows the request id', async () => {
    serve(() => Response.json(
      { error: { code: 'conflict', message: 'An account has at most 1000 keys.' } },
      { status: 409, headers: { 'X-Request-Id': 'req_7' } },
    ));
    render(<Flow client={new QueryClient()} />);
    fireEvent.change(screen.getByLabelText('Name'), { target: { value: 'production' } });
    fireEvent.click(screen.getByRole('button', { name: 'Create key' }));
    expect((await screen.findByRole('alert')).textContent).toContain('An account has at most 1000 keys.');
    expect(screen.getByText('req_7')).toBeTruthy();
    expect(screen.getByLabelText('Name')).toHaveProperty('value', 'production');
  });
});

it('a key is active until it is revoked or its time has come', () => {
  expect(stateOf(made, now)).toBe('active');
  expect(stateOf({ ...made, expires_at: '2026-11-22T12:00:00.001Z' }, now)).toBe('active');
  expect(stateOf({ ...made, expires_at: '2026-11-22T12:00:00.000Z' }, now)).toBe('expired');
  expect(stateOf(
    { ...made, expires_at: '2026-11-22T12:00:00.000Z', revoked_at: '2026-11-22T11:00:00.000Z' }, now,
  )).toBe('revoked');
});

it('an expiry counts days from now', () => {
  expect(expiry('30', now)).toBe('2026-12-22T12:00:00.000Z');
  expect(expiry('', now)).toBeNull();
});
