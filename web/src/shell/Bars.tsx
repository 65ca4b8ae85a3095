import { type Query, useIsFetching, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useModels } from '@/api/lists';
import { type Account, session, useCan, useSession } from '@/api/session';
import { Button } from '@/design/Button';
import { Input } from '@/design/Field';
import { Icon } from '@/design/icons';
import { tokenOf } from './token';

function subscribe(listener: () => void) {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}

/**
 * What is said once at the top of every page, and stays in view. What sticks below it needs its height, which its words decide.
 */
export function Bars() {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (typeof ResizeObserver === 'undefined') return;
    const bars = ref.current!;
    const observer = new ResizeObserver(() => bars.parentElement!.style.setProperty('--bars-height', `${bars.offsetHeight}px`));
    observer.observe(bars);
    return () => observer.disconnect();
  }, []);
  return <div ref={ref} className="frame-bars"><OfflineBar /><RetryBar /><SessionBar /><ModelBar /></div>;
}

/** Says once that this machine is offline. */
function OfflineBar() {
  const online = useSyncExternalStore(subscribe, () => navigator.onLine);
  return (
    <div role="status">
      {!online && (
        <p className="bar-top warn">
          <Icon name="offline" />
          <span>You are offline. The page shows what it had, and goes on when the network is back.</span>
        </p>
      )}
    </div>
  );
}

// One failure is repeated without a word.
const failing = { predicate: ({ state }: Query) => state.fetchFailureCount > 1 };

/** Says why the page waits while a call that failed twice is made again. The page keeps what it had, or its skeleton. */
export function RetryBar() {
  const client = useQueryClient();
  const waiting = useIsFetching(failing) > 0;
  const query = waiting ? client.getQueryCache().findAll({ ...failing, fetchStatus: 'fetching' })[0] : undefined;
  const error = query?.state.fetchFailureReason;
  return (
    <div role="status">
      {error && <p className="bar-top warn"><Icon name="warn" /><span>{error.message} Trying again …</span></p>}
    </div>
  );
}

const offlineModel = 'prism.offline-model';

/**
 * Says that no model is connected, as long as the default one is the offline model (spec: console-offline-model), and leads
 * those who may connect one to where they do. Where it stood before it stands from the first paint on, so that the page below it
 * does not move.
 */
export function ModelBar() {
  const own = useCan('own');
  const offline = useModels().data?.some((model) => model.default && model.probabilities === 'simulated');
  useEffect(() => {
    if (offline) localStorage.setItem(offlineModel, '');
    else if (offline === false) localStorage.removeItem(offlineModel);
  }, [offline]);
  if (!(offline ?? localStorage.getItem(offlineModel) !== null)) return null;
  return (
    <p className="bar-top info">
      <Icon name="info" />
      <span>
        The offline model only matches words.{' '}
        {own ? <Link to="/models">Connect a model.</Link> : 'Ask an owner to connect a model.'}
      </span>
    </p>
  );
}

/** Says that the session is over, and signs in again without leaving the page. */
export function SessionBar() {
  const { status, account } = useSession();
  const client = useQueryClient();
  const [link, setLink] = useState('');
  const [error, setError] = useState<string>();
  const [other, setOther] = useState<Account>(); // whose the link is, if it is not that of this page
  const ended = status === 'ended';
  useEffect(() => {
    if (!ended) return;
    // Somebody who signed in in another tab comes back to this one.
    const check = () => {
      if (!document.hidden) void session.load().then((active) => { if (active) void client.invalidateQueries(); }, () => {});
    };
    document.addEventListener('visibilitychange', check);
    addEventListener('focus', check);
    return () => {
      document.removeEventListener('visibilitychange', check);
      removeEventListener('focus', check);
    };
  }, [ended, client]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const token = tokenOf(link);
    if (!token) return setError('Paste the whole link.');
    try {
      setError(undefined);
      const owner = other ?? await session.owner(token);
      if (!other && (owner.id !== account?.id || owner.member.id !== account.member.id)) return setOther(owner);
      await session.signIn(token, owner);
      setLink('');
      setOther(undefined);
      await client.invalidateQueries();
    } catch (cause) {
      setError(cause instanceof Error ? cause.message : String(cause));
    }
  };
  return (
    <div role="alert">
      {ended && (
        <form className="bar-top warn" onSubmit={(event) => void submit(event)}>
          <Icon name="warn" />
          <p>
            Your session has ended. What you typed is still here: sign in
            in <a href="/console/sign-in" target="_blank" rel="noopener">another tab</a> and come back, or paste a sign-in link.
          </p>
          <Input label="Sign-in link" hideLabel placeholder="Sign-in link" value={link} error={error}
            onChange={(event) => { setLink(event.target.value); setOther(undefined); }} />
          {other && <p>This link is of {other.member.name} in the account {other.name}.</p>}
          <Button type="submit">{other ? `Sign in as ${other.member.name}` : 'Sign in'}</Button>
        </form>
      )}
    </div>
  );
}
