import { count } from '@/design/numbers';

// What an action did, before the name of its object.
const actions: Record<string, string> = {
  'account.create': 'Created account', 'account.limits': 'Changed the limits of', 'account.claims': 'Changed the claims of',
  'key.create': 'Created key', 'key.revoke': 'Revoked key',
  'prism.create': 'Created prism', 'prism.rename': 'Renamed prism', 'prism.archive': 'Archived prism',
  'prism.unarchive': 'Unarchived prism',
  'prism.retention': 'Changed the retention of', 'prism.drift': 'Changed the drift watch of',
  'prism.searchable': 'Changed the searches of',
  'version.create': 'Saved a version of', 'version.empty': 'Emptied examples of',
  'lens.replace': 'Replaced the Lens of',
  'calibration.create': 'Fitted a calibration of', 'calibration.pin': 'Pinned calibrations of',
  'result.delete': 'Deleted result', 'results.delete': 'Deleted results of', 'file.delete': 'Deleted file',
  'run.create': 'Created run', 'run.pause': 'Paused run', 'run.resume': 'Resumed run', 'run.cancel': 'Cancelled run',
  'run.retry': 'Retried failed rows of run',
  'run.limits': 'Changed the limits of run',
  'results.retry': 'Retried failed results of', 'results.assign': 'Assigned results of',
  'comment.delete': 'Deleted a comment of result',
  'view.create': 'Saved view', 'view.replace': 'Replaced view', 'view.delete': 'Deleted view',
  'webhook.create': 'Created webhook', 'webhook.replace': 'Replaced webhook', 'webhook.delete': 'Deleted webhook',
  'webhook.rotate': 'Made a new secret of webhook', 'webhook.test': 'Tested webhook',
  'webhook.resend': 'Sent an event again to webhook', 'webhook.disable': 'Disabled webhook',
  'member.add': 'Added member', 'member.change': 'Changed member', 'member.remove': 'Removed member',
  'member.link': 'Made a sign-in link for',
  'member.sign_in': 'Signed in', 'member.key': 'Renewed the session of', 'member.sign_out': 'Signed out',
};

/** An action in words, such as `Created key`. An action of a later release stays as it is. */
export function saying(action: string): string {
  return actions[action] ?? action;
}

/** An entry, and how many entries there are of it. */
export interface Repeated<T> {
  entry: T;
  times: number;
}

/**
 * Entries with each series of renewals of one member's session as its newest one: an open page renews its session every few
 * minutes, which would hide what was changed.
 */
export function folded<T extends { action: string; actor: { id?: string | null } }>(entries: T[]): Repeated<T>[] {
  const rows: Repeated<T>[] = [];
  for (const entry of entries) {
    const last = rows.at(-1);
    const same =
      last && entry.action === 'member.key' && last.entry.action === entry.action && last.entry.actor.id === entry.actor.id;
    if (same) last.times++;
    else rows.push({ entry, times: 1 });
  }
  return rows;
}

/** The detail of an entry in words, such as `version 2` or `role caller, expires 2027-01-01`. */
export function detailOf(detail: Record<string, unknown>): string {
  return Object.entries(detail)
    .map(([name, value]) => {
      if (name === 'days') return value === null ? 'kept for good' : count(Number(value), 'day');
      if (name === 'expires_at') return `expires ${String(value).slice(0, 10)}`;
      return `${name.replaceAll('_', ' ')} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`;
    })
    .join(', ');
}
