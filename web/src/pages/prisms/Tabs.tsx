import type { ReactNode } from 'react';
import { usePrismOfPage } from '@/data/prisms';
import { ResultsTable } from '../results/ResultsTable';
import { RunsList } from '../runs/RunsList';

export function ResultsTab(): ReactNode {
  return <ResultsTable prism={usePrismOfPage().prism.slug} />;
}

export function RunsTab(): ReactNode {
  return <RunsList prism={usePrismOfPage().prism.slug} />;
}
