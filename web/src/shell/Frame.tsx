import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type Account, session, useCan, useSession } from '@/api/session';
import { Toasts } from '@/design/Feedback';
import { Icon } from '@/design/icons';
import { onPageKeys } from '@/design/keys';
import { Menu, type MenuItem } from '@/design/Menu';
import { Kbd } from '@/design/Values';
import { type Action, listenForKeys, useActions } from './actions';
import { places } from './places';
import { KeyList, Palette } from './Palette';
import { Bars } from './Bars';
import { setTheme, type Theme, useTheme } from './theme';
import './shell.css';

/** What is around every page: navigation, palette, keys, and what is said once at the top. */
export function Frame() {
  const navigate = useNavigate();
  const [layer, setLayer] = useState<'palette' | 'keys' | 'nav'>();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const shown = useShownPlaces();
  useEffect(() => listenForKeys(), []);
  useEffect(() => setLayer((now) => (now === 'nav' ? undefined : now)), [path]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setLayer((now) => (now === 'palette' ? undefined : 'palette'));
    };
    return onPageKeys(onKey);
  }, []);
  useActions([
    ...shown.map((place): Action => ({
      id: `go ${place.to}`, group: 'Go to', label: place.label, keys: place.keys, run: () => void navigate({ to: place.to }),
    })),
    { id: 'keys', group: 'Help', label: 'List of keys', keys: '?', run: () => setLayer('keys') },
    { id: 'docs', group: 'Help', label: 'API reference', run: () => window.open('/docs', '_blank', 'noopener') },
  ]);
  return (
    <div className="frame">
      <a className="skip" href="#main">Skip to content</a>
      <Bars />
      <div className="frame-body">
        <header className="side" data-open={layer === 'nav' || undefined}>
          <div className="side-top">
            <Link to="/" className="brand"><Logo /><span>Prism</span></Link>
            <button type="button" className="button quiet side-menu" aria-expanded={layer === 'nav'}
              onClick={() => setLayer(layer === 'nav' ? undefined : 'nav')}>
              <Icon name={layer === 'nav' ? 'close' : 'menu'} /><span>Menu</span>
            </button>
          </div>
          <div className="side-body">
            <button type="button" className="find" onClick={() => setLayer('palette')}>
              <Icon name="search" />
              <span>Find</span>
              <Kbd keys="Mod K" />
            </button>
            <nav aria-label="Main">
              {shown.map((place) => (
                <Link key={place.to} to={place.to} activeOptions={{ exact: place.to === '/' }}
                  className={place.line ? 'lined' : ''}>
                  <Icon name={place.icon} />{place.label}
                </Link>
              ))}
            </nav>
            <div className="side-foot"><AccountMenu /></div>
          </div>
        </header>
        <main id="main" tabIndex={-1}><Outlet /></main>
      </div>
      {layer === 'palette' && <Palette onClose={() => setLayer(undefined)} />}
      {layer === 'keys' && <KeyList onClose={() => setLayer(undefined)} />}
      <Toasts />
    </div>
  );
}

function useShownPlaces() {
  const may = { own: useCan('own'), edit: useCan('edit'), label: useCan('label') };
  return places.filter(({ only }) => !only || may[only]);
}

const themes: [Theme, string, 'screen' | 'sun' | 'moon'][] = [
  ['system', 'Appearance of the system', 'screen'], ['light', 'Light appearance', 'sun'], ['dark', 'Dark appearance', 'moon'],
];

/** The current account, the others, the theme, and signing out. */
function AccountMenu() {
  const { account, accounts } = useSession();
  const navigate = useNavigate();
  const client = useQueryClient();
  const theme = useTheme();
  if (!account) return null;
  const items: (MenuItem | 'line')[] = [
    ...(accounts.length > 1 ? [
      ...accounts.map((a): MenuItem => ({ label: a.name, checked: a.id === account.id, onSelect: () => {
        session.switchTo(a);
        client.clear();
        void navigate({ to: '/' });
      } })),
      'line' as const,
    ] : []),
    ...themes.map(([value, label, icon]): MenuItem => ({
      label, icon, checked: value === theme, onSelect: () => setTheme(value),
    })),
    'line',
    { label: 'Your account', icon: 'account', onSelect: () => void navigate({ to: '/account' as '/' }) },
    { label: 'Sign out', icon: 'right', onSelect: () => void signOut(client) },
  ];
  return (
    <Menu label="Account" align="start" className="account-button" items={items}>
      <span className="account-names">
        <span className="clip">{account.name}</span>
        <span className="clip soft">{account.member.name} · {account.member.role}</span>
      </span>
      <Icon name="more" />
    </Menu>
  );
}

/** Ends the session and leaves nothing of it in the page. */
export async function signOut(client: { clear: () => void }): Promise<void> {
  await session.signOut();
  client.clear();
  location.assign('/console/sign-in');
}

/** Ends the membership in the account, and begins again in another one, or at the page of sign-ins. */
export async function leave(account: Account, client: { clear: () => void }): Promise<void> {
  await session.leave(account);
  client.clear();
  location.assign('/console/');
}

/** The frame while the session is asked for. */
export function FramePending() {
  return (
    <div className="frame" aria-busy="true">
      <div className="frame-body">
        <div className="side"><div className="side-top"><span className="brand"><Logo /><span>Prism</span></span></div></div>
        <main />
      </div>
    </div>
  );
}

export function Logo() {
  return (
    <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
      <path className="logo-a" d="M16 4 29 27H3z" /><path className="logo-b" d="M16 4v23L3 27z" />
    </svg>
  );
}
