import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { auditRoutes } from './pages/audit/routes';
import { homeRoutes } from './pages/home/routes';
import { accountRoutes } from './pages/account/routes';
import { keysRoutes } from './pages/keys/routes';
import { membersRoutes } from './pages/members/routes';
import { modelsRoutes } from './pages/models/routes';
import { prismsRoutes } from './pages/prisms/routes';
import { labelRoutes } from './pages/quality/routes';
import { resultsRoutes } from './pages/results/routes';
import { runsRoutes } from './pages/runs/routes';
import { usageRoutes } from './pages/usage/routes';
import { webhooksRoutes } from './pages/webhooks/routes';
import { Failed, NotFound } from './shell/Failed';
import { frame, root } from './shell/root';
import { SignIn } from './shell/SignIn';

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: SignIn,
  validateSearch: (search): { return?: string; error?: string; account?: string } => ({
    ...(typeof search.return === 'string' && { return: search.return }),
    ...(typeof search.error === 'string' && { error: search.error }),
    // The address may write a number, which is parsed as one.
    ...(search.account !== undefined && search.account !== '' && { account: String(search.account).slice(0, 200) }),
  }),
});

// In a build the condition is false, and the page is left out.
const gallery = import.meta.env.DEV
  ? ([createRoute({
    getParentRoute: () => frame, path: '/gallery',
    component: lazyRouteComponent(() => import('./pages/gallery/Gallery'), 'Gallery'),
  })] as const)
  : ([] as const);

const nowhere = createRoute({ getParentRoute: () => frame, path: '$', component: NotFound });

const tree = root.addChildren([
  signIn,
  frame.addChildren([
    ...homeRoutes, ...prismsRoutes, ...resultsRoutes, ...runsRoutes, ...labelRoutes, ...usageRoutes, ...modelsRoutes,
    ...keysRoutes, ...membersRoutes, ...webhooksRoutes, ...auditRoutes, ...accountRoutes, ...gallery, nowhere,
  ]),
]);

export const router = createRouter({
  routeTree: tree,
  basepath: '/console',
  defaultPreload: 'intent',
  defaultErrorComponent: Failed,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
