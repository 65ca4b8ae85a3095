import type { Schemas } from '@/api';
import type { Tone } from '@/design';

type State = Schemas['ModelState'];

/** What a state is called, and how it looks. */
export const states: Record<State['state'], [Tone, string, string]> = {
  asked: ['good', 'in use', 'Calls go to it.'],
  on_trial: ['warn', 'on trial', 'It was skipped, and one call shows whether it answers again.'],
  skipped: [
    'bad', 'skipped',
    'More than half of its last 20 calls failed. Its fallbacks are asked, and it is tried again after 5 seconds.',
  ],
  no_balance: [
    'bad', 'no balance', 'Its host says that no balance is left. It is passed over for a minute while another model is left.',
  ],
};

/** What a class of failures means. */
export const classes: Record<State['failures'][number]['reason'], string> = {
  unavailable: 'not reached, or not ready',
  limited: 'too many calls for its host',
  exhausted: 'no balance left',
  refused_key: 'the key was refused',
  not_found: 'the host does not know the model',
  parameter: 'a parameter was refused',
  unreadable: 'the host did not answer in JSON',
};

/** What a part of a check is called. */
export const parts: Record<Schemas['CheckedPart']['part'], string> = {
  reached: 'Reached', key: 'Key', request: 'Request', json: 'JSON', log_probabilities: 'Log-probabilities', thinking: 'Thinking',
  label_mass: 'Label mass', answers: 'Answers', order_bias: 'Order of options', tokens: 'Tokens', time: 'Time',
};

/** How a part of a check looks. */
export const found: Record<Schemas['CheckedPart']['status'], Tone> = { ok: 'good', doubt: 'warn', failed: 'bad' };

/** Failures by class, the newest class first. */
export function byClass(failures: State['failures']) {
  const all = new Map<string, { reason: State['failures'][number]['reason']; count: number; at: string }>();
  for (const { reason, at } of failures) {
    const known = all.get(reason);
    if (known) known.count++;
    else all.set(reason, { reason, count: 1, at });
  }
  return [...all.values()];
}

/** What is to be said of a check as a whole. */
export function verdict(check: Schemas['ModelCheck']): { tone: Tone; text: string } {
  const failed = check.checks.some((part) => part.status === 'failed');
  if (failed) return { tone: 'bad', text: 'It does not work as it is configured.' };
  const doubts = check.checks.filter((part) => part.status === 'doubt').length;
  if (doubts) return { tone: 'warn', text: `It works, and ${doubts === 1 ? 'one thing' : `${doubts} things`} could be better.` };
  return { tone: 'good', text: 'It works.' };
}
