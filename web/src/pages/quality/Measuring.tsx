import { Skeleton } from '@/design';

/** The place of measures: resampling may take seconds. */
export function Measuring({ lines }: { lines: number }) {
  return (
    <div role="status">
      <span className="unseen">Measuring</span>
      <Skeleton shape="chart" /><Skeleton shape="bars" lines={lines} />
    </div>
  );
}
