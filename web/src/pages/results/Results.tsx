import { Page } from '@/design';
import { ResultsTable } from './ResultsTable';

export function Results() {
  return (
    <Page title="Results">
      <ResultsTable />
    </Page>
  );
}
