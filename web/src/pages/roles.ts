import type { Role, Schemas } from '@/api';

/** The roles of keys, least first: value, words, what it may do. */
export const roles: [Schemas['Role'], string, string][] = [
  ['reader', 'Reader', 'Reads prisms, results, runs and usage.'],
  ['caller', 'Caller', 'Creates and retries results and runs, and reads.'],
  ['editor', 'Editor', 'Changes prisms too, and labels.'],
  ['owner', 'Owner', 'Everything, also keys, members and the audit.'],
];

/** The roles of members. */
export const memberRoles: [Role, string, string][] = [roles[0]!, ['labeller', 'Labeller', 'Reads and labels results.'], ...roles.slice(1)];
