import { useRouter } from '@tanstack/react-router';
import { ApiError } from '@/api/errors';
import { ButtonLink } from '@/design/Button';
import { Empty, ErrorNote } from '@/design/Feedback';
import { Page } from '@/design/Page';

/** A page that could not be shown. */
export function Failed({ error }: { error: unknown }) {
  const router = useRouter();
  if (error instanceof ApiError && error.status === 404) return <NotFound />;
  return (
    <Page title="This page could not be shown">
      <ErrorNote error={error} onRetry={() => void router.invalidate()} />
    </Page>
  );
}

export function NotFound() {
  return (
    <Page title="Not found">
      <Empty title="Nothing is at this address" action={<ButtonLink to="/" variant="primary">Go to Home</ButtonLink>}>
        It may have been deleted, or belong to another account.
      </Empty>
    </Page>
  );
}
