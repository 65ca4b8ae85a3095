import { useCan } from '@/api';
import { ButtonLink, Page } from '@/design';
import { RunsList } from './RunsList';

export function Runs() {
  const may = useCan('call');
  return (
    <Page title="Runs" actions={may && <ButtonLink to="/runs/new" variant="primary" icon="plus">New run</ButtonLink>}>
      <RunsList />
    </Page>
  );
}
