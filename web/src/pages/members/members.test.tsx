import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, expect, it, vi } from 'vitest';
import type { InvitedMember } from './api';
import { Invite, Invited } from './Invite';

const link = '/console/sign-in#abcdefghijklmnopqrstuvwxyzABCDEF';
const member = {
  id: '01a2058f-6043-73cd-9a27-a83c58f61fd8', name: 'Grace', email: null, role: 'reader', claim: null, signed_in_by: null,
  created_at: '2026-11-22T12:00:00.000Z', last_seen_at: null,
};

afterEach(() => vi.unstubAllGlobals());

function Flow({ client }: { client: QueryClient }) {
  const [invited, setInvited] = useState<InvitedMember>();
  const [closed, setClosed] = useState(false);
  return (
    <QueryClientProvider client={client}>
      {invited ? !closed && (
        <Invited member={invited} link={invited.link!} onClose={() => setClosed(true)} />
      ) : <Invite onClose={() => {}} onInvited={setInvited} />}
    </QueryClientProvider>
  );
}

it('an invitation shows its link once, as a whole address, and nowhere after its dialog is closed', async () => {
  const bodies: unknown[] = [];
  vi.stubGlobal('fetch', async (input: string | Request) => {
    if (!(input instanceof Request)) return Response.json({
      key: 'k', expires_at: new Date(Date.now() + 900_000).toISOString(), account: { id: 'a', name: 'a' },
      member: { name: 'Ada', role: 'owner' },
    });
    bodies.push([input.method, new URL(input.url).pathname, await input.clone().json()]);
    return Response.json({ ...member, link, expires_at: '2026-11-29T12:00:00.000Z' }, { status: 201 });
  });
  const client = new QueryClient();
  render(<Flow client={client} />);
  fireEvent.change(screen.getByLabelText('Name'), { target: { value: 'Grace' } });
  fireEvent.click(screen.getByRole('button', { name: 'Invite' }));
  expect(await screen.findByText(location.origin + link)).toBeTruthy();
  expect(bodies).toEqual([['POST', '/v1/members', { name: 'Grace', role: 'reader', email: null }]]);
  fireEvent.click(screen.getByRole('button', { name: 'Done' }));
  const kept = [...client.getQueryCache().getAll(), ...client.getMutationCache().getAll()].map((entry) => entry.state);
  expect(JSON.stringify(kept) + document.documentElement.outerHTML).not.toContain(link);
});
