import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { session } from '@/api/session';
import { Button } from '@/design/Button';
import { ErrorNote } from '@/design/Feedback';
import { Input } from '@/design/Field';
import { Logo } from './Frame';
import { pageOf } from './page';
import { reasonOf } from './reasons';
import { tokenOf } from './token';
import './shell.css';

/**
 * The page of sign-in links and of single sign-on. The token of the address leaves it before it is used. An invitation that is
 * opened where there is single sign-on waits for a choice: the sign-in of a provider lasts, a link works once.
 */
export function SignIn() {
  const { return: back, error: failure } = useSearch({ strict: false }) as { return?: string; error?: string };
  const navigate = useNavigate();
  const [link, setLink] = useState('');
  const [invitation, setInvitation] = useState<string>();
  const [busy, setBusy] = useState<'link' | 'openid'>();
  const [error, setError] = useState<unknown>(() => { const text = reasonOf(failure); return text && new Error(text); });
  const [openid, setOpenid] = useState(false);
  const config = useRef<Promise<boolean>>(undefined);

  const run = async (by: 'link' | 'openid', work: () => Promise<void>) => {
    setBusy(by);
    setError(undefined);
    try {
      await work();
    } catch (cause) {
      setError(cause);
      setBusy(undefined);
    }
  };
  const use = (token: string) => run('link', async () => {
    await session.signIn(token);
    await navigate({ href: pageOf(back), replace: true });
  });
  const leave = () => run('openid', async () => location.assign(await session.startOpenID(`/console${pageOf(back)}`, invitation)));
  useEffect(() => {
    document.title = 'Sign in · Prism';
    let shown = true;
    config.current ??= session.config().then((told) => told.openid, () => false);
    void config.current.then((on) => shown && setOpenid(on));
    // A link that is pasted into the address of this page changes its fragment only.
    const take = async () => {
      const token = tokenOf(location.hash);
      if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
      if (!token) return;
      if (await config.current) setInvitation(token);
      else void use(token);
    };
    addEventListener('hashchange', take);
    void take();
    return () => {
      shown = false;
      removeEventListener('hashchange', take);
    };
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const token = tokenOf(link);
    if (token) void use(token);
    else setError(new Error('This is no sign-in link. Paste the whole address, up to its last character.'));
  };
  return (
    <main className="sign-in">
      <p className="brand"><Logo />Prism</p>
      <h1>{invitation ? 'You are invited' : 'Sign in'}</h1>
      <ErrorNote error={error} />
      {openid && <Button variant="primary" busy={busy === 'openid'} onClick={() => void leave()}>{invitation ? 'Accept with single sign-on' : 'Sign in with single sign-on'}</Button>}
      {invitation ? (
        <>
          <Button busy={busy === 'link'} onClick={() => void use(invitation)}>Sign in with the link alone</Button>
          <p className="soft">With single sign-on you can sign in again without a new link.</p>
        </>
      ) : (
        <form className="stack" onSubmit={submit}>
          <Input label="Sign-in link" value={link} onChange={(event) => setLink(event.target.value)} spellCheck={false}
            hint={<>An invitation, or what <code>prism console link</code> makes. It works once.</>} />
          <Button type="submit" variant={openid ? 'secondary' : 'primary'} busy={busy === 'link'}>Sign in</Button>
        </form>
      )}
    </main>
  );
}
