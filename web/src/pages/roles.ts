import type { Schemas } from '@/api';

/** The roles of keys and members, least first: value, words, what it may do. */
export const roles: [Schemas['Role'], string, string][] = [
  ['reader', 'Reader', 'Reads prisms, results, runs and usage.'],
  ['caller', 'Caller', 'Creates and retries results and runs, and reads.'],
  ['editor', 'Editor', 'Changes prisms too.'],
  ['owner', 'Owner', 'Everything, also keys, members and the audit.'],
];
