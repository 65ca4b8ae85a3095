import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { api, ask, type Schemas, useCan } from '@/api';
import { shellWord } from '@/commands/commands';
import { usePrismOfPage } from '@/data/prisms';
import { useFile } from '@/data/runs';
import { Button, ButtonLink, Code, count, ErrorNote, Note, Section, Select, shown, toast } from '@/design';
import { kindOf } from '@/questions';
import { FileSection } from '../runs/FileSection';
import { Column, Why } from '../runs/MapStep';
import {
  findResults, guessLabels, type LabelColumns, mostResults, mostRows, plan, type Plan, readFileRows, storeLabels,
} from './importing';
import '../runs/runs.css';

interface ImportLabelsProps {
  /** The uploaded file, if there is one. */
  file: string | undefined;
  onFile: (id: string | undefined) => void;
  onClose: () => void;
}

/** Labels results by a file of what was right, in three steps: the file, its columns, and a check before anything is stored. */
export function ImportLabels({ file: id, onFile, onClose }: ImportLabelsProps) {
  const { prism } = usePrismOfPage();
  const may = useCan('edit'); // who uploads files and labels
  const { data: file, error } = useFile(may ? id : undefined);
  const back = <Button icon="left" onClick={onClose}>Back to labelling</Button>;
  if (!may) return <Note action={back}>Your role may not upload files. Owners and editors import labels from one.</Note>;
  const command = `prismctl labels import FILE.csv --prism ${shellWord(prism.slug)} --question QUESTION`;
  return (
    <div className="runs-new">
      <p className="soft">
        A file says what was right for results that are there already: a column names the result, and others have the right
        answers. They take the place of labels that are there. For texts that no result has yet, start a run and map the right
        answers there.
      </p>
      <div className="row">{back}</div>
      <FileSection {...{ id, file, error, command, onFile }} />
      {file?.status === 'ready' && <Columns key={file.id} file={file} onClose={onClose} />}
    </div>
  );
}

type Sample = '' | Schemas['LabelSample'];

function Columns({ file, onClose }: { file: Schemas['File']; onClose: () => void }) {
  const { prism } = usePrismOfPage();
  const columns = file.columns ?? [];
  const { fields, questions } = prism.version;
  const guessed = useMemo(() => guessLabels(prism.version, columns), [prism, columns]);
  const [chosen, setChosen] = useState<LabelColumns>(guessed);
  const [sample, setSample] = useState<Sample>('');
  const set = (change: Partial<LabelColumns>) => setChosen((old) => ({ ...old, ...change }));
  const whole = chosen.column !== '' && questions.some(({ key }) => chosen.labels[key]);
  return (
    <>
      <Section title="Columns">
        <div className="runs-map">
          <Select label="A row names its result by" value={chosen.by}
            options={[...fields.map(({ key, label }): [string, string] => [`field ${key}`, `its text: ${label ?? key}`]),
              ['ref', 'its reference'], ['id', 'its id']]}
            onChange={(event) => set({ by: event.target.value as LabelColumns['by'] })} />
          <Column label="Column that names the result" columns={columns} value={chosen.column}
            onValue={(column) => set({ column })} />
        </div>
        <div className="runs-map">
          {questions.map(({ key, text, type }) => (
            <Column key={key} label={text} columns={columns} value={chosen.labels[key] ?? ''} none="No column"
              hint={kindOf({ type }).cells}
              onValue={(column) => set({ labels: { ...chosen.labels, [key]: column } })} />
          ))}
          <Select label="How the rows were chosen" value={sample} hint="Only labels of rows at random tell of all other results."
            options={[
              ['', 'That is not known'], ['random', 'At random'], ['uncertain', 'Those of which the model was least sure'],
            ]}
            onChange={(event) => setSample(event.target.value as Sample)} />
        </div>
        {!whole && <p className="soft">Choose the column that names the result, and one that says what was right.</p>}
      </Section>
      {(file.rows ?? 0) > mostRows ? (
        <Note tone="warn">
          This page takes {shown(mostRows)} rows, and the file has {shown(file.rows ?? 0)}.
          Use <code>prismctl labels import</code>.
        </Note>
      ) : whole && <Check key={JSON.stringify([chosen, file.header_row, file.sheet, sample])} file={file} columns={chosen}
        sample={sample || undefined} onClose={onClose} />}
    </>
  );
}

interface CheckProps {
  file: Schemas['File'];
  columns: LabelColumns;
  sample: Schemas['LabelSample'] | undefined;
  onClose: () => void;
}

/** Finds the results of the rows, says what would be stored, and stores it when asked to. */
function Check({ file, columns, sample, onClose }: CheckProps) {
  const { prism } = usePrismOfPage();
  const client = useQueryClient();
  const [looked, setLooked] = useState(0);
  const [sent, setSent] = useState(0);
  const under = useRef(new AbortController());
  useEffect(() => {
    under.current = new AbortController();
    return () => under.current.abort();
  }, []);
  const check = useMutation({ mutationFn: async () => {
    const { signal } = under.current;
    const rows = await readFileRows(file.id, file.rows ?? 0, signal);
    const { found, whole } = await findResults(prism.slug, rows, columns, setLooked, signal);
    const versions = new Map([[prism.latest_version, prism.version]]);
    for (const version of new Set([...found.values()].map((one) => one.version))) {
      if (!versions.has(version)) {
        const path = { prism: prism.slug, version };
        versions.set(version, await ask(api.GET('/v1/prisms/{prism}/versions/{version}', { params: { path }, signal })));
      }
    }
    return { ...plan(rows, columns, found, versions), whole };
  } });
  const store = useMutation({
    mutationFn: (labels: Plan['labels']) => storeLabels(prism.slug, labels, sample, setSent),
    onSuccess: ({ labelled }) => {
      for (const queryKey of [['results', 'counts'], ['quality', prism.slug], ['label queue']]) {
        void client.invalidateQueries({ queryKey });
      }
      toast(`${count(labelled, 'label')} saved.`);
    },
  });
  const found = check.data;
  const command = commandOf(file.name, prism.slug, columns, sample);
  return (
    <Section title="Check and store">
      <div className="row">
        <Button icon="check" busy={check.isPending} disabled={store.isPending} onClick={() => { store.reset(); check.mutate(); }}>
          Check the rows
        </Button>
        <Button variant="primary" busy={store.isPending} disabled={!found || found.labels.length === 0 || store.isSuccess}
          onClick={() => store.mutate(found!.labels)}>
          {found ? `Store ${count(found.labels.length, 'label')}` : 'Store the labels'}
        </Button>
      </div>
      <p role="status" className="soft">
        {check.isPending ? `Looking for the results${looked > 0 ? `: ${shown(looked)} looked at` : ''}. Nothing is stored yet.`
          : store.isPending ? `${shown(sent)} of ${shown(found?.labels.length ?? 0)} sent.`
          : found ? `${count(found.labels.length, 'label')} of ${count(found.results, 'result')} will be stored.`
          : 'Checking finds the result of each row. It stores nothing.'}
      </p>
      <ErrorNote error={check.error} title="The rows could not be checked." />
      <ErrorNote error={store.error} title={`${shown(sent)} were sent. Storing again goes on, and stores nothing twice.`} />
      {store.data ? (
        <Note tone={store.data.refused > 0 ? 'warn' : 'good'} action={
          <>
            <Button small onClick={onClose}>Back to labelling</Button>
            <ButtonLink small to="/prisms/$prism/quality" params={{ prism: prism.slug }}>Look at the quality</ButtonLink>
          </>
        }>
          {count(store.data.labelled, 'label is', 'labels are')} stored.
          {store.data.refused > 0 && ` ${shown(store.data.refused)} were refused: their results were deleted meanwhile.`}
        </Note>
      ) : found && <Outcome found={found} />}
      {command !== undefined && <Code label="Copy command" text={command} />}
    </Section>
  );
}

/** The command that does the same, for a file with the names of columns that the command knows; undefined for others. */
function commandOf(file: string, prism: string, { by, column, labels }: LabelColumns, sample: string | undefined) {
  const mapped = Object.entries(labels).filter(([, name]) => name);
  const known = { id: 'result_id', ref: 'ref' }[by as string] === column && mapped.every(([key, name]) => key === name);
  return known && /\.(csv|tsv|jsonl)$/i.test(file) ? `prismctl labels import ${shellWord(file)} --prism ${shellWord(prism)}`
    + mapped.map(([key]) => ` --question ${shellWord(key)}`).join('') + (sample ? ` --sample ${sample}` : '') : undefined;
}

/** What a check found beside the labels to store. */
function Outcome({ found: { unmatched, invalid, repeated, whole } }: { found: Plan & { whole: boolean } }) {
  return (
    <div className="stack">
      {unmatched.length === 0 && invalid.length === 0 && <Note tone="good">Each row has a result and a right answer.</Note>}
      {repeated > 0 && (
        <Note>{count(repeated, 'label is', 'labels are')} said again further down, where the last one counts.</Note>
      )}
      {unmatched.length > 0 && (
        <>
          <Note tone="warn">
            {count(unmatched.length, 'row')} {unmatched.length === 1 ? 'matches' : 'match'} no result of this prism that is ok
            {whole ? '.' : `, of the newest ${shown(mostResults)}.`}
          </Note>
          <Why label="Rows without a result" rows={unmatched.slice(0, listed)} total={unmatched.length} />
        </>
      )}
      {invalid.length > 0 && (
        <>
          <Note tone="warn">{count(invalid.length, 'cell is', 'cells are')} no answer that the question knows.</Note>
          <Why label="Cells that are no label" rows={invalid.slice(0, listed)} total={invalid.length} />
        </>
      )}
    </div>
  );
}

const listed = 100; // rows of a table of what is wrong
