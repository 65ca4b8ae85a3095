import type { ReactNode } from 'react';
import './overview.css';

/** Figures in a row. */
export function Stats({ children }: { children: ReactNode }) {
  return <dl className="stats">{children}</dl>;
}

interface StatProps {
  name: ReactNode;
  title?: string | undefined;
  children: ReactNode;
  more?: ReactNode;
}

/** A figure with its name above it and what belongs to it below. */
export function Stat({ name, title, children, more }: StatProps) {
  return (
    <div>
      <dt className="soft">{name}</dt>
      <dd className="num" title={title}>{children}</dd>
      {more && <dd className="soft">{more}</dd>}
    </div>
  );
}
