import { useRouter } from '@tanstack/react-router';
import { ApiError } from '@/api/errors';
import { ButtonLink } from '@/design/Button';
import { Empty, ErrorNote } from '@/design/Feedback';
import { Page } from '@/design/Page';

/** A page that could not be shown. */
export function Failed({ error }: { error: unknown }) {
  const router = useRouter();
  if (isNowhere(error)) return <NotFound />;
  return (
    <Page title="This page could not be shown">
      <ErrorNote error={error} onRetry={() => void router.invalidate()} />
    </Page>
  );
}

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
