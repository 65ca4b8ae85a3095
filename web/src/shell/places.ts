import type { IconName } from '@/design/icons';

interface Place {
  to: string;
  label: string;
  icon: IconName;
  keys: string;
  /** Only for owners, for who may change prisms, or for who may label. */
  only?: 'own' | 'edit' | 'label';
  /** Begins a group. */
  line?: boolean;
}

/** The pages of the navigation, in its order. */
export const places: Place[] = [
  { to: '/', label: 'Home', icon: 'home', keys: 'g h' },
  { to: '/prisms', label: 'Prisms', icon: 'prism', keys: 'g p' },
  { to: '/results', label: 'Results', icon: 'results', keys: 'g r' },
  { to: '/runs', label: 'Runs', icon: 'runs', keys: 'g n' },
  { to: '/label', label: 'Label', icon: 'good', keys: 'g l', only: 'label' },
  { to: '/usage', label: 'Usage', icon: 'usage', keys: 'g u' },
  { to: '/models', label: 'Models', icon: 'model', keys: 'g o', only: 'own', line: true },
  { to: '/keys', label: 'Keys', icon: 'key', keys: 'g k', only: 'own' },
  { to: '/members', label: 'Members', icon: 'members', keys: 'g m', only: 'own' },
  { to: '/webhooks', label: 'Webhooks', icon: 'send', keys: 'g w', only: 'edit' },
  { to: '/audit', label: 'Audit', icon: 'audit', keys: 'g a', only: 'own' },
];
