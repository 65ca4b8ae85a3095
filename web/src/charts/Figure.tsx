import { type ReactNode, useId, useState } from 'react';
import { Button } from '@/design/Button';
import './charts.css';

export interface Data {
  head: string[];
  /** The first cell names the row; numbers end-align. */
  rows: (string | number | null)[][];
}

interface FigureProps {
  label: string;
  title?: ReactNode;
  data: Data;
  children: ReactNode;
  plain?: boolean;
}

/** A picture, with a heading if it has a title, its text alternative and, one key press away, the table of its data. */
export function Figure({ label, title, data, children, plain }: FigureProps) {
  const [table, setTable] = useState(false);
  const id = useId();
  const toggle = !plain && (
    <Button variant="quiet" small className="figure-switch" icon={table ? 'usage' : 'table'} onClick={() => setTable(!table)}>
      {table ? 'Chart' : 'Table'}<span className="unseen"> of {label}</span>
    </Button>
  );
  return (
    <figure className="figure" aria-label={label}>
      {title && <figcaption className="figure-head"><h2>{title}</h2>{toggle}</figcaption>}
      {table ? <DataTable id={id} label={label} data={data} /> : children}
      {!title && toggle}
    </figure>
  );
}

function DataTable({ id, label, data }: { id: string; label: string; data: Data }) {
  return (
    <div className="figure-data" tabIndex={0} role="region" aria-label={`Table: ${label}`}>
      <table className="table" id={id}>
        <thead>
          <tr>{data.head.map((head, i) => <th key={i} scope="col" className={i ? 'end' : undefined}>{head}</th>)}</tr>
        </thead>
        <tbody>
          {data.rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => j ? <td key={j} className="end">{cell ?? '–'}</td> : <th key={j} scope="row">{cell}</th>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
