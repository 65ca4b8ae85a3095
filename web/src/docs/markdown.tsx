import { Fragment, type ReactNode } from 'react';

/** The part of CommonMark that the document uses: paragraphs, lists, tables, code and strong text. */
export function Markdown({ text }: { text: string }) {
  return text.trim().split('\n\n').filter(Boolean).map((block, at) => <Block key={at} lines={block.trim().split('\n')} />);
}

function Block({ lines }: { lines: string[] }) {
  if (lines[0]!.startsWith('- ')) return <ul>{lines.map((line, at) => <li key={at}><Inline text={line.slice(2)} /></li>)}</ul>;
  if (!lines[0]!.startsWith('|')) return <p><Inline text={lines.join(' ')} /></p>;
  const [heads = [], , ...body] = lines.map((line) => line.slice(1, -1).split('|').map((cell) => <Inline text={cell.trim()} />));
  return <Rows heads={heads} rows={body} label="Table" />;
}

export function Inline({ text }: { text: string }) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part, at) => {
    if (at % 2 === 0) return part;
    return part.startsWith('`') ? <code key={at}>{part.slice(1, -1)}</code> : <strong key={at}>{part.slice(2, -2)}</strong>;
  });
}

/** A table that scrolls by itself where the page is narrow. */
export function Rows({ heads, rows, label }: { heads: ReactNode[]; rows: ReactNode[][]; label: string }) {
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={label}>
      <table>
        <thead><tr>{heads.map((head, at) => <th key={at} scope="col">{head}</th>)}</tr></thead>
        <tbody>
          {rows.map((cells, row) => <tr key={row}>{cells.map((cell, at) => <td key={at}><Fragment>{cell}</Fragment></td>)}</tr>)}
        </tbody>
      </table>
    </div>
  );
}
