import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { shellWord } from '@/commands/commands';
import { Button, count, Dialog } from '@/design';
import type { Listed } from './data';
import { fileName, withQuery } from './download';
import { DownloadDialog, resultFormats } from './DownloadDialog';
import { exportQuery, type ResultsSearch } from './search';

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
      <p>{Object.keys(query).length ? `Every result of ${prism} that matches the filters.` : `Every result of ${prism}.`} Oldest
        first.</p>
    </DownloadDialog>
  );
}

const most = 1000; // ids of one call

/** Downloads the selected results, which are of one prism. */
export function DownloadChosen({ results, onClose }: { results: Listed[]; onClose: () => void }) {
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
      <p>The selected results, oldest first.</p>
    </DownloadDialog>
  );
}

function DownloadNone({ children, onClose }: { children: ReactNode; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Download results" actions={<Button onClick={onClose}>Close</Button>}>
      <p>{children}</p>
    </Dialog>
  );
}
