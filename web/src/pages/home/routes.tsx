import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frame } from '@/shell/root';

export const homeRoutes = [
  createRoute({ getParentRoute: () => frame, path: '/', component: lazyRouteComponent(() => import('./Home'), 'Home') }),
] as const;
