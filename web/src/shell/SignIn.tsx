import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { session } from '@/api/session';
import { Button } from '@/design/Button';
import { ErrorNote } from '@/design/Feedback';
import { Input } from '@/design/Field';
import { Logo } from './Frame';
import { tokenOf } from './token';
import './shell.css';

/** The page of sign-in links. The token of the address leaves it before it is used. */
export function SignIn() {
  const { return: back } = useSearch({ strict: false }) as { return?: string };
  const navigate = useNavigate();
  const [link, setLink] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [openid, setOpenid] = useState(false);
  const begun = useRef(false);

  const use = async (token: string) => {
    setBusy(true);
    setError(undefined);
    try {
      await session.signIn(token);
      // Only a page of the console: another address would be an open redirect.
      await navigate({ href: back && /^\/(?![/\\])/.test(back) ? back : '/', replace: true });
    } catch (cause) {
      setError(cause);
      setBusy(false);
    }
  };
  useEffect(() => {
    document.title = 'Sign in · Prism';
    // A link that is pasted into the address of this page changes its fragment only.
    const take = () => {
      const token = tokenOf(location.hash);
      if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
      if (token) void use(token);
    };
    addEventListener('hashchange', take);
    if (!begun.current) {
      begun.current = true;
      take();
      void session.config().then((config) => setOpenid(config.openid), () => {});
    }
    return () => removeEventListener('hashchange', take);
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
      <h1>Sign in</h1>
      <ErrorNote error={error} />
      {openid && <a className="button primary" href={`/console/openid/start?return=${encodeURIComponent(`/console${back ?? '/'}`)}`}>Continue with single sign-on</a>}
      <form className="stack" onSubmit={submit}>
        <Input label="Sign-in link" value={link} onChange={(event) => setLink(event.target.value)} spellCheck={false}
          hint={<>An invitation, or what <code>prism console link</code> prints. It works once.</>} />
        <Button type="submit" variant={openid ? 'secondary' : 'primary'} busy={busy}>Sign in</Button>
      </form>
    </main>
  );
}
