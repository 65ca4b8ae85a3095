import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiError } from '@/api/errors';
import { Button, ButtonLink } from '@/design/Button';
import { Empty, ErrorNote, Note } from '@/design/Feedback';
import { Page } from '@/design/Page';

/** A page that could not be shown. */
export function Failed({ error }: { error: unknown }) {
  const router = useRouter();
  const missing = isMissing(error);
  // The first time, the page is loaded once more, and finds the files of the release that answers now.
  useEffect(() => { if (missing && !reloadedLately((error as Error).message)) location.reload(); }, [missing, error]);
  if (isNowhere(error)) return <NotFound />;
  if (missing) {
    return (
      <Page title="This page could not be loaded">
        <Note tone="warn" action={<Button small onClick={() => location.reload()}>Reload</Button>}>
          Some of its files are missing. A new release may be starting: reload the page in a moment.
        </Note>
      </Page>
    );
  }
  return (
    <Page title="This page could not be shown">
      <ErrorNote error={error} onRetry={() => void router.invalidate()} />
    </Page>
  );
}

const reloaded = 'prism.reloaded'; // when the page was loaded once more for a file that was missing
const lately = 60_000; // milliseconds in which that is not done again

function reloadedLately(message: string): boolean {
  try {
    // The router does so by itself for a script, once for each message as long as it finds its own note.
    const byRouter = `tanstack_router_reload:${message}`;
    const loaded = sessionStorage.getItem(byRouter) !== null;
    sessionStorage.removeItem(byRouter);
    if (loaded || Date.now() - Number(sessionStorage.getItem(reloaded)) < lately) return true;
    sessionStorage.setItem(reloaded, String(Date.now()));
    return false;
  } catch {
    return true; // without a memory it would be loaded for ever
  }
}

/**
 * Whether a file of the page is missing, as browsers and Vite say it: while a release is rolled out, a replica may have those of
 * another release.
 */
const isMissing = (error: unknown) => error instanceof Error && [
  'Failed to fetch dynamically imported module', 'error loading dynamically imported module', 'Importing a module script failed',
  'Unable to preload CSS for',
].some((words) => error.message.startsWith(words));

/** Whether nothing is at the address of a page: the API knows no such object, or the address has no id of one. */
export const isNowhere = (error: unknown) => error instanceof ApiError && (error.status === 404 || error.status === 400);

export function NotFound() {
  return (
    <Page title="Not found">
      <Empty title="Nothing is at this address" action={<ButtonLink to="/" variant="primary">Go to Home</ButtonLink>}>
        It may have been deleted, or belong to another account.
      </Empty>
    </Page>
  );
}
