import type { IconName } from '@/design/icons';

interface Place {
  to: string;
  label: string;
  icon: IconName;
  keys: string;
  /** Only for owners. */
  owner?: boolean;
  /** Begins a group. */
  line?: boolean;
}

/** The pages of the navigation, in its order. */
export const places: Place[] = [
  { to: '/', label: 'Home', icon: 'home', keys: 'g h' },
  { to: '/prisms', label: 'Prisms', icon: 'prism', keys: 'g p' },
  { to: '/results', label: 'Results', icon: 'results', keys: 'g r' },
  { to: '/runs', label: 'Runs', icon: 'runs', keys: 'g n' },
  { to: '/usage', label: 'Usage', icon: 'usage', keys: 'g u' },
  { to: '/models', label: 'Models', icon: 'model', keys: 'g o', owner: true, line: true },
  { to: '/keys', label: 'Keys', icon: 'key', keys: 'g k', owner: true },
  { to: '/members', label: 'Members', icon: 'members', keys: 'g m', owner: true },
  { to: '/audit', label: 'Audit', icon: 'audit', keys: 'g a', owner: true },
];
