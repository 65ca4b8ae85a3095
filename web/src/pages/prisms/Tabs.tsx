import type { ReactNode } from 'react';
import { ResultsTable } from '../results/ResultsTable';
import { RunsList } from '../runs/RunsList';
import { usePrism } from './PrismPage';

export function ResultsTab(): ReactNode {
  return <ResultsTable prism={usePrism().prism.slug} />;
}

export function RunsTab(): ReactNode {
  return <RunsList prism={usePrism().prism.slug} />;
}
