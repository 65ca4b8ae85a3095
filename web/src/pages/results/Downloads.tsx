import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { LensColumn } from '@/answers/words';
import { shellWord } from '@/commands/commands';
import { type Listed, usePrism } from '@/data/results';
import { Button, count, Dialog, Note } from '@/design';
import { sortWords } from './chips';
import { fileName, withQuery } from './download';
import { DownloadDialog, resultFormats } from './DownloadDialog';
import { exportQuery, listQuery, type ResultsSearch } from './search';

const pathOf = (prism: string) => `/v1/prisms/${encodeURIComponent(prism)}/results`;
const nameOf = (prism: string) => (format: string) => fileName([prism, 'results'], format, new Date());

/** Downloads every result of a prism that matches. */
export function DownloadResults({ search, onClose }: { search: ResultsSearch; onClose: () => void }) {
  const { prism } = search;
  if (prism === undefined) {
    return search.run === undefined
      ? <DownloadNone onClose={onClose}>
        A download is of one prism, since each prism has columns of its own. Choose a prism in the filters first.
      </DownloadNone>
      : <DownloadNone onClose={onClose}>
        The rows of a run with their answers are downloaded from
        the <Link to="/runs/$run" params={{ run: search.run }}>page of the run</Link>.
      </DownloadNone>;
  }
  const query = exportQuery(search);
  const flags = Object.entries(query)
    .flatMap(([name, value]) => [value].flat().map((one) => ` --${name.replace('_', '-')} ${shellWord(String(one))}`))
    .join('');
  const name = nameOf(prism);
  return (
    <DownloadDialog title={`Download results of ${prism}`} formats={resultFormats} onClose={onClose} name={name}
      path={(format, style) => withQuery(pathOf(prism), { ...query, format, ...style })}
      command={(format) => `prismctl results export ${shellWord(prism)}${flags} --file ${name(format)}`}>
      {(format) => (
        <>
          <p>{Object.keys(query).length ? `Every result of ${prism} that matches the filters.` : `Every result of ${prism}.`}{' '}
            Oldest first.</p>
          <Unsorted prism={prism} sort={listQuery(search).sort} format={format} />
        </>
      )}
    </DownloadDialog>
  );
}

const most = 1000; // ids of one call

/** Downloads the selected results, which are of one prism. */
export function DownloadChosen({ results, sort, onClose }: {
  results: Listed[]; sort: string | undefined; onClose: () => void;
}) {
  const [prism, another] = new Set(results.map((one) => one.prism));
  if (prism === undefined || another !== undefined || results.length > most) {
    return (
      <DownloadNone onClose={onClose}>
        {results.length > most
          ? 'At most 1,000 selected rows can be downloaded. Narrow them by filters, and select all that match.'
          : 'A download is of one prism, since each prism has columns of its own. Select results of one.'}
      </DownloadNone>
    );
  }
  return (
    <DownloadDialog title={`Download ${count(results.length, 'result')} of ${prism}`} formats={resultFormats} onClose={onClose}
      name={nameOf(prism)} path={() => `${pathOf(prism)}/export`}
      body={(format) => ({ ids: results.map(({ id }) => id), format })}>
      {(format) => (
        <>
          <p>The selected results, oldest first.</p>
          <Unsorted prism={prism} sort={sort} format={format} />
        </>
      )}
    </DownloadDialog>
  );
}

/** Says that a file does not have the order of the table, and which of its columns to sort by. */
function Unsorted({ prism, sort, format }: { prism: string; sort: string | undefined; format: string }) {
  const { data } = usePrism(prism);
  const order = sortWords(sort, data?.version?.questions);
  if (order === undefined || sort === '@created') return null; // the newest first, or the order of the file
  const column = data && sortedColumn(sort!.replace(/^-/, ''), data.lens.columns);
  return (
    <Note tone="warn">
      The table is sorted {order}; <strong>the file is oldest first</strong>.{' '}
      {column ? <>
        In Excel, sort it by the column <strong>{format === 'xlsx' ? headingOf(column) : column}</strong>,{' '}
        {sort!.startsWith('-') ? 'largest to smallest' : 'smallest to largest'}.
      </> : data && (sort!.includes('@took') ? 'It has no column with the time taken.'
        : 'It has no column with these numbers: add one to the Lens to sort by it.')}
    </Note>
  );
}

/** What stands above a column in a workbook: words, unless a person has written it. */
export function headingOf(name: string): string {
  if (/ |\p{Lu}/u.test(name)) return name;
  const words = name.split(/[_-]+/).filter(Boolean).join(' ');
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : name;
}

/** The column of an export with the numbers that a table is sorted by: as stored, not calibrated. */
function sortedColumn(name: string, columns: LensColumn[]): string | undefined {
  const [, question, option, average] = /^([^.@]+)(?:\.([^@]+))?(@average)?$/.exec(name) ?? [];
  return columns.find((one) => one.question === question && !one.calibrated && (one.option ?? undefined) === option
    && one.show === (average ? 'average' : 'probability'))?.name;
}

function DownloadNone({ children, onClose }: { children: ReactNode; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Download results" actions={<Button onClick={onClose}>Close</Button>}>
      <p>{children}</p>
    </Dialog>
  );
}
