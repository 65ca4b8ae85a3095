import type { Role } from '@/api';

/** The roles of keys and members, least first: value, words, what it may do. */
export const roles: [Role, string, string][] = [
  ['reader', 'Reader', 'Reads prisms, results, runs and usage.'],
  ['labeller', 'Labeller', 'Reads and labels results.'],
  ['caller', 'Caller', 'Creates and retries results and runs, and reads.'],
  ['editor', 'Editor', 'Changes prisms too, and labels.'],
  ['owner', 'Owner', 'Everything, also keys, members and the audit.'],
];
