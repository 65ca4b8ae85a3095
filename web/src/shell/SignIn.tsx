import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { type Account, session } from '@/api/session';
import { Button } from '@/design/Button';
import { ErrorNote } from '@/design/Feedback';
import { Input } from '@/design/Field';
import { Logo } from './Frame';
import { pageOf } from './page';
import { reasonOf } from './reasons';
import { tokenOf } from './token';
import './shell.css';

/** A sign-in link that waits for a yes, and the accounts in which this browser is signed in already. */
interface Offer {
  token: string;
  account: Account;
  others: Account[];
}

/**
 * The page of sign-in links and of single sign-on. The token of the address leaves it before it is sent. Whoever has sent the
 * link may be somebody else than the reader thinks, so the page says whose it is, and uses it up only after a yes
 * (spec: link-owner). An invitation may be accepted by the sign-in of a provider, which lasts: a link works once. An address may
 * name an account: what the account sees is said before the sign-in, which agrees to it (spec: claim-grant).
 */
export function SignIn() {
  const { return: back, error: failure, account } =
    useSearch({ strict: false }) as { return?: string; error?: string; account?: string };
  const navigate = useNavigate();
  const [link, setLink] = useState('');
  const [offer, setOffer] = useState<Offer>();
  const [busy, setBusy] = useState<'link' | 'openid'>();
  const [error, setError] = useState<unknown>(() => { const text = reasonOf(failure); return text && new Error(text); });
  const [openid, setOpenid] = useState(false);
  const title = useRef<HTMLHeadingElement>(null);

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
  const ask = (token: string) => run('link', async () => {
    const [owner] = await Promise.all([session.owner(token), session.join().catch(() => false)]);
    setOffer({ token, account: owner, others: session.state.accounts.filter(({ id }) => id !== owner.id) });
    setLink('');
    setBusy(undefined);
    title.current?.focus();
  });
  const use = ({ token, account }: Offer) => run('link', async () => {
    await session.signIn(token, account);
    await navigate({ href: pageOf(back), replace: true });
  });
  const named = openid && !offer ? account : undefined;
  const leave = () => run('openid', async () =>
    location.assign(await session.startOpenID(`/console${pageOf(back)}`, { token: offer?.token, account: named })));
  useEffect(() => {
    document.title = 'Sign in · Prism';
    let shown = true;
    void session.config().then((told) => shown && setOpenid(told.openid), () => {});
    // A link that is pasted into the address of this page changes its fragment only.
    const take = () => {
      const token = tokenOf(location.hash);
      if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
      if (token) void ask(token);
    };
    addEventListener('hashchange', take);
    take();
    return () => {
      shown = false;
      removeEventListener('hashchange', take);
    };
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const token = tokenOf(link);
    if (token) void ask(token);
    else setError(new Error('This is no sign-in link. Paste the whole address, up to its last character.'));
  };
  return (
    <main className="sign-in">
      <p className="brand"><Logo />Prism</p>
      <h1 ref={title} tabIndex={-1}>{offer || named ? `Sign in to ${offer?.account.name ?? named}?` : 'Sign in'}</h1>
      <ErrorNote error={error} />
      {offer ? (
        <>
          <p>
            This link signs you in as <strong>{offer.account.member.name}</strong>, {offer.account.member.role} of the
            account <strong>{offer.account.name}</strong>. Its owners see what you do there.
          </p>
          {offer.others.length > 0 && <p>You stay signed in to {offer.others.map(({ name }) => name).join(', ')}, too.</p>}
          {openid && (
            <Button variant="primary" busy={busy === 'openid'} onClick={() => void leave()}>Accept with single sign-on</Button>
          )}
          <Button variant={openid ? 'secondary' : 'primary'} busy={busy === 'link'} onClick={() => void use(offer)}>
            {openid ? 'Sign in with the link alone' : `Sign in as ${offer.account.member.name}`}
          </Button>
          <Button onClick={() => { setOffer(undefined); setError(undefined); }}>Cancel</Button>
          {openid && <p className="soft">With single sign-on you can sign in again without a new link.</p>}
        </>
      ) : named ? (
        <>
          <p>
            If a rule of the account <strong>{named}</strong> admits you, you become its member. Its owners then see your name,
            your email address, when you were last here, and what you do there. You can leave it on the page <i>Your account</i>.
          </p>
          <Button variant="primary" busy={busy === 'openid'} onClick={() => void leave()}>
            Agree and sign in with single sign-on
          </Button>
          <Button onClick={() => void navigate({ href: '/sign-in', replace: true })}>Cancel</Button>
        </>
      ) : (
        <>
          {openid && (
            <Button variant="primary" busy={busy === 'openid'} onClick={() => void leave()}>Sign in with single sign-on</Button>
          )}
          <form className="stack" onSubmit={submit}>
            <Input label="Sign-in link" value={link} onChange={(event) => setLink(event.target.value)} spellCheck={false}
              hint={<>An invitation, or what <code>prism console link</code> makes. It works once.</>} />
            <Button type="submit" variant={openid ? 'secondary' : 'primary'} busy={busy === 'link'}>Continue</Button>
          </form>
        </>
      )}
    </main>
  );
}
