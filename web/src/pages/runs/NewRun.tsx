import { getRouteApi } from '@tanstack/react-router';
import { useCan, usePrisms } from '@/api';
import { usePrism } from '@/data/results';
import { useFile } from '@/data/runs';
import { examples } from '@/definitions/examples';
import { ButtonLink, Empty, ErrorNote, Note, Page, Section, Select } from '@/design';
import { compact } from '../results/search';
import { FileSection } from './FileSection';
import { MapStep } from './MapStep';
import type { NewRunSearch } from './search';
import './runs.css';

const route = getRouteApi('/frame/runs/new');

/**
 * A run of a file: the prism, the file, its columns, a check of the rows, and the start. The prism and the file are in the URL.
 */
export function NewRun() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useCan('call');
  const prisms = usePrisms('false');
  const { data: prism, error: noPrism } = usePrism(search.prism);
  const { data: file, error: noFile } = useFile(search.file);
  const set = (change: NewRunSearch) => void navigate({ search: (old) => compact({ ...old, ...change }), resetScroll: false });
  if (!may) return (
    <Page title="New run">
      <Note tone="warn">Your role reads runs and cannot start one. An owner can change that under Members.</Note>
    </Page>
  );
  const ready = file?.status === 'ready' ? file : undefined;
  return (
    <Page title="New run"
      lead="Every row of a file goes through a prism. You get the file back with the answers beside each row.">
      <div className="runs-new">
        <Section title="Prism">
          {prisms.data?.length === 0 && !search.prism ? <NoPrism file={search.file} /> : (
            <Select label="Prism" hideLabel value={search.prism ?? ''}
              onChange={(event) => set({ prism: event.target.value || undefined })}>
              <option value="">Choose a prism</option>
              {(prisms.data ?? []).map(({ slug, name }) => (
                <option key={slug} value={slug}>{name ? `${slug}: ${name}` : slug}</option>
              ))}
            </Select>
          )}
          <ErrorNote error={prisms.error ?? noPrism} />
          {prism?.archived_at && <Note tone="warn">This prism is archived and takes no calls.</Note>}
        </Section>
        <FileSection id={search.file} file={file} error={noFile} onFile={(id) => set({ file: id })}
          command={`prismctl runs create -f FILE.csv --prism ${search.prism ?? 'PRISM'} --watch`} />
        {ready && prism && !prism.archived_at && <MapStep key={`${prism.slug} ${ready.id}`} prism={prism} file={ready} />}
        {ready && !prism && prisms.data?.length !== 0 && <p className="soft">Choose a prism to map the columns to its fields.</p>}
      </div>
    </Page>
  );
}

/** The way to a first prism, which comes back to the file. */
function NoPrism({ file }: { file: string | undefined }) {
  const may = useCan('edit');
  const next = { then: 'run' as const, file };
  return (
    <Empty title="No prism to ask yet" action={may && (
      <>
        <ButtonLink to="/prisms/new" search={next} variant="primary" icon="plus">Make a prism</ButtonLink>
        {examples.map(({ id, title }) => (
          <ButtonLink key={id} to="/prisms/new" search={{ ...next, from: id }}>{title}</ButtonLink>
        ))}
      </>
    )}>
      A prism has the questions that a model answers about each row.
      {may ? ' Make one, or take an example as it is: then the run goes on here.'
        : ' Your role may not make one: ask an owner or editor.'}
    </Empty>
  );
}
