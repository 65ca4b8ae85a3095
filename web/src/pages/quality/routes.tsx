import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frame } from '@/shell/root';

export const labelRoutes = [
  createRoute({
    getParentRoute: () => frame, path: '/label', component: lazyRouteComponent(() => import('./LabelHome'), 'LabelHome'),
  }),
] as const;
