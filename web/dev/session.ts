import type { Plugin } from 'vite';

/**
 * Answers the calls of the session in development with the key of PRISM_DEV_KEY, so that pages can be written without signing
 * in. PRISM_DEV_ROLE is the role that the pages are told; the key decides what the API allows.
 */
export function devSession(): Plugin {
  const key = process.env.PRISM_DEV_KEY;
  const member = { id: '00000000-0000-7000-8000-000000000001', name: 'Developer', role: process.env.PRISM_DEV_ROLE ?? 'owner' };
  const account = { id: '00000000-0000-7000-8000-000000000002', name: 'Development' };
  const later = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  let signedIn = true;
  return {
    name: 'prism-dev-session',
    apply: 'serve',
    configureServer(server) {
      if (!key) return;
      server.middlewares.use((request, response, next) => {
        const path = request.url?.split('?')[0];
        const answer = (status: number, body?: unknown) => {
          response.statusCode = status;
          response.setHeader('Content-Type', 'application/json');
          response.end(body === undefined ? undefined : JSON.stringify(body));
        };
        const refuse = () => answer(401, { error: { code: 'unauthorized', message: 'You are signed out.' } });
        switch (`${request.method} ${path}`) {
          case 'GET /console/config':
            return answer(200, { version: 'development', openid: false });
          case 'POST /console/session/link':
            return answer(200, { account: { ...account, member }, expires_at: later(10) });
          case 'POST /console/session':
            signedIn = true;
            return answer(204);
          case 'DELETE /console/session':
            signedIn = false;
            return answer(204);
          case 'GET /console/session':
            return signedIn ? answer(200, { member, accounts: [{ ...account, member }], expires_at: later(720) }) : refuse();
          case 'POST /console/session/key':
            return signedIn ? answer(200, { key, expires_at: later(15), account, member }) : refuse();
        }
        next();
      });
    },
  };
}
