import { type ReactNode, useEffect, useState } from 'react';
import { ApiError } from '@/api/errors';
import { useSession } from '@/api/session';
import { inWords } from '@/api/words';
import { Button, Copy } from './Button';
import { Drawing, type DrawingName } from './Drawing';
import { Icon, type IconName } from './icons';
import { percent, shown } from './numbers';
import './feedback.css';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info';

/** A word with an icon, never a colour alone. */
export function Badge({ tone = 'neutral', icon, children }: { tone?: Tone; icon?: IconName; children: ReactNode }) {
  return <span className={`badge ${tone}`}><Icon name={icon ?? iconOf[tone]} /><span>{children}</span></span>;
}

const iconOf: Record<Tone, IconName> = { neutral: 'dot', good: 'good', warn: 'warn', bad: 'bad', info: 'info' };

const statuses: Record<string, [Tone, IconName]> = {
  ok: ['good', 'good'], active: ['good', 'good'], finished: ['good', 'good'],
  delivered: ['good', 'good'], waiting: ['neutral', 'clock'], disabled: ['warn', 'pause'],
  failed: ['bad', 'bad'], invalid: ['warn', 'warn'],
  queued: ['neutral', 'clock'], pending: ['neutral', 'clock'], running: ['info', 'play'],
  pausing: ['warn', 'pause'], paused: ['warn', 'pause'], cancelling: ['neutral', 'stop'], cancelled: ['neutral', 'stop'],
  revoked: ['neutral', 'stop'], expired: ['neutral', 'clock'], archived: ['neutral', 'archive'], invited: ['info', 'clock'],
};

/** The state of a result, run, row, key or member, in the API's own word. */
export function Status({ status }: { status: string }) {
  const [tone, icon] = statuses[status] ?? ['neutral', 'dot'];
  return <Badge tone={tone} icon={icon}>{status}</Badge>;
}

interface EmptyProps {
  title: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
  command?: string;
  /** The picture that will be here. */
  drawing?: DrawingName;
}

/** What will be here, the one next step, and the command that does the same. */
export function Empty({ title, children, action, command, drawing }: EmptyProps) {
  return (
    <div className="empty">
      {drawing && <Drawing name={drawing} />}
      <h2>{title}</h2>
      {children && <p className="soft">{children}</p>}
      {action && <div className="row">{action}</div>}
      {command && <Code text={command} label="Copy command" />}
    </div>
  );
}

/**
 * An error of the API in words for people; its own text is behind *Details*. What stands against a call (409) is said by the API
 * in a sentence already, and what never reached it by the page.
 */
function wordsOf(error: ApiError): string {
  if (error.problems.length) return error.problems.map(({ message }) => inWords(message).replace(/\.?$/, '.')).join(' ');
  switch (error.status) {
    case 400: return 'Something in it is not as it has to be.';
    case 403: return 'Your role may not do this.';
    case 404: return 'It is not there, or no longer.';
    case 429: return 'There are too many calls at the moment. Try again in a few seconds.';
    case 0: case 409: return error.message;
    default: return error.status >= 500 ? 'Prism could not do this at the moment. Try again in a few seconds.' : error.message;
  }
}

/** Says what failed; the API's text and the id of the request are behind *Details*. `onRetry` asks again. */
export function ErrorNote({ error, title, onRetry }: { error: unknown; title?: ReactNode; onRetry?: () => void }) {
  const { status } = useSession();
  if (!error) return null;
  // In a dialog, the bar of the frame that says so is out of reach.
  const ended = status === 'ended' && error instanceof ApiError && error.status === 401;
  const message = error instanceof Error ? error.message : String(error);
  const words = error instanceof ApiError ? wordsOf(error) : message;
  const id = error instanceof ApiError ? error.requestId : '';
  return (
    <div className="note bad" role="alert">
      <Icon name="bad" />
      <div className="grow">
        {title && <strong>{title} </strong>}
        {ended
          ? <span>
            Your session has ended. Sign in in <a href="/console/sign-in" target="_blank" rel="noopener">another tab</a>, come
            back, and try again.
          </span>
          : <span>{words}</span>}
        {(id || words !== message) && (
          <details>
            <summary>Details</summary>
            {words !== message && <p>{message}</p>}
            {id && <p className="note-id">Request id <code>{id}</code><Copy text={id} label="Copy request id" /></p>}
          </details>
        )}
      </div>
      {onRetry && <Button small onClick={onRetry}>Try again</Button>}
    </div>
  );
}

/** A remark that stays on the page. */
export function Note({ tone = 'info', children, action }: { tone?: Tone; children: ReactNode; action?: ReactNode }) {
  return <div className={`note ${tone}`}><Icon name={iconOf[tone]} /><div className="grow">{children}</div>{action}</div>;
}

export type Shape = 'text' | 'table' | 'results' | 'chart' | 'bars' | 'form' | 'stats';

/**
 * Keeps the place of what loads, in its shape; seen after 200 ms. `lines` are lines of text, rows of a table or of results, bars,
 * fields of a form, or figures.
 */
export function Skeleton({ lines = 3, shape = 'text' }: { lines?: number; shape?: Shape }) {
  return (
    <div className={`skeleton of-${shape}`} aria-hidden="true">
      {Array.from({ length: shape === 'chart' ? 1 : lines }, (_, i) => <span key={i} />)}
    </div>
  );
}

interface ProgressProps {
  label: string;
  max: number;
  value?: number;
  parts?: { value: number; tone: Tone; label: string }[];
}

/** How far something is. Parts of different tones stand side by side; what is missing to `max` is the track. */
export function Progress({ label, max, parts, value = 0 }: ProgressProps) {
  const all = parts ?? [{ value, tone: 'info' as const, label }];
  const sum = all.reduce((total, part) => total + part.value, 0);
  return (
    <div className="progress" role="progressbar" aria-label={label} aria-valuemin={0} aria-valuemax={max} aria-valuenow={sum}
      aria-valuetext={max ? `${percent(sum / max)}: ${all.map((p) => `${shown(p.value)} ${p.label}`).join(', ')}` : label}>
      {all.map((part) => part.value > 0 && (
        <span key={part.label} className={part.tone} title={`${shown(part.value)} ${part.label}`}
          style={{ flexGrow: part.value / max }} />
      ))}
      <span className="rest" style={{ flexGrow: max ? Math.max(0, 1 - sum / max) : 1 }} />
    </div>
  );
}

/** Text that is copied with one click: a command, JSON, YAML. */
export function Code({ text, label = 'Copy', wrap, tall }: { text: string; label?: string; wrap?: boolean; tall?: boolean }) {
  return (
    <div className={['code', wrap && 'wrap', tall && 'tall'].filter(Boolean).join(' ')}>
      <pre tabIndex={0}><code>{text}</code></pre>
      <Copy text={text} label={label} />
    </div>
  );
}

interface Shown {
  id: number;
  message: ReactNode;
  undo?: (() => void) | undefined;
  /** What is done when the toast goes, unless it is undone. */
  later?: () => void;
  /** Says what failed, and stays until it is closed. */
  failed?: boolean;
}

let toasts: Shown[] = [];
let last = 0;
let told: (() => void) | undefined;

function show(toast: Omit<Shown, 'id'>): void {
  const kept = (one: Shown) => one.later !== undefined || one.failed;
  const passing = toasts.filter((one) => !kept(one)).slice(-2);
  toasts = [...toasts.filter((one) => kept(one) || passing.includes(one)), { ...toast, id: ++last }];
  told?.();
}

/**
 * Says that something was done, for 6 seconds, with Undo where it can be undone. Errors are no toasts: they stay where they are.
 */
export function toast(message: ReactNode, undo?: () => void): void {
  show({ message, undo });
}

/**
 * Says for 10 seconds that something will be done, which Undo takes back. It is done when the toast goes; a tab that is closed
 * before does nothing. What fails then is said in the place of the toast, until it is closed.
 */
export function toastBefore(message: ReactNode, act: () => Promise<unknown>, undo: () => void, failed: string): void {
  const later = () => void act().catch((error: unknown) =>
    show({ message: <ErrorNote error={error} title={failed} />, failed: true }));
  show({ message, undo, later });
}

const pauses = { done: 6000, before: 10_000 }; // milliseconds that a toast stays

/** The place of toasts; once in the frame. */
export function Toasts() {
  const [, redraw] = useState(0);
  useEffect(() => {
    told = () => redraw((n) => n + 1);
    return () => { told = undefined; };
  }, []);
  const drop = (id: number) => { toasts = toasts.filter((t) => t.id !== id); redraw((n) => n + 1); };
  return (
    <div className="toasts" role="status">
      {toasts.map((t) => <Toast key={t.id} toast={t} drop={() => drop(t.id)} />)}
    </div>
  );
}

function Toast({ toast: { message, undo, later, failed }, drop }: { toast: Shown; drop: () => void }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held || failed) return;
    const timer = setTimeout(() => { drop(); later?.(); }, later ? pauses.before : pauses.done);
    return () => clearTimeout(timer);
  }, [held]);
  return (
    <div className="toast" onMouseEnter={() => setHeld(true)} onMouseLeave={() => setHeld(false)} onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}>
      <span>{message}</span>
      {undo && <Button small onClick={() => { drop(); undo(); }}>Undo</Button>}
      {failed && <Button small onClick={drop}>Close</Button>}
    </div>
  );
}
