import { Fragment, useLayoutEffect, useState } from 'react';
import { ago, exactly, exactTime, money, shown } from './numbers';
import './feedback.css';

/** A time as it is said, with the exact one in its title. `null` is a dash. */
export function Time({ at, none = '–' }: { at: string | null | undefined; none?: string }) {
  const now = useNow();
  if (!at) return <span className="soft">{none}</span>;
  return <time dateTime={at} title={exactTime(at)}>{ago(Date.parse(at), now)}</time>;
}

let shared = 0;
let timer: number;
const watchers = new Set<(now: number) => void>();

function renew(): void {
  shared = Date.now();
  for (const watcher of watchers) watcher(shared);
}

function watch(watcher: (now: number) => void): () => void {
  if (watchers.size === 0) timer = window.setInterval(renew, 30_000);
  watchers.add(watcher);
  if (Math.abs(Date.now() - shared) > 1000) renew();
  else watcher(shared);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) clearInterval(timer);
  };
}

/**
 * The present, in milliseconds, renewed each 30 seconds, and when something that shows it is new. It is the same everywhere, so
 * that rows of the same second say the same.
 */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useLayoutEffect(() => watch(setNow), []);
  return now;
}

/** A number of 4 significant digits; its title, and what is copied from it, is exact. `null` is a dash. */
export function Num({ value, unit, currency }: { value: number | null | undefined; unit?: string; currency?: string | null }) {
  if (value == null) return <span className="soft">–</span>;
  const text = currency === undefined ? shown(value) : money(value, currency);
  return (
    <span className="num" title={`${exactly(value)}${currency ? ` ${currency}` : ''}${unit ? ` ${unit}` : ''}`}
      onCopy={(event) => { event.preventDefault(); event.clipboardData.setData('text/plain', String(value)); }}>
      {text}{unit && <span className="soft"> {unit}</span>}
    </span>
  );
}

/** Keys: `Mod` is ⌘ on a Mac and Ctrl elsewhere; a space separates keys that follow each other. */
export function Kbd({ keys }: { keys: string }) {
  return (
    <span className="kbds">
      {keys.split(' ').map((key, index) => (
        <Fragment key={index}>{index > 0 && ' '}<kbd>{key.replace('Mod', isMac ? '⌘' : 'Ctrl')}</kbd></Fragment>
      ))}
    </span>
  );
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Facts as pairs: `<Facts items={[['Created', <Time …/>]]} />`. */
export function Facts({ items }: { items: [React.ReactNode, React.ReactNode][] }) {
  return (
    <dl className="facts">
      {items.map(([name, value], index) => <div key={index}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}
