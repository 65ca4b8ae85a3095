import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import type { Question } from '@/answers/words';
import { api, ApiError, ask, type Schemas, useCan } from '@/api';
import { inWords } from '@/api/words';
import { shellWord } from '@/commands/commands';
import { useDraft } from '@/data/drafts';
import { useVersion } from '@/data/results';
import { told, useFileRows } from '@/data/runs';
import { Button, Code, count, duration, ErrorNote, Input, money, Note, Section, Select, shown, typedNumber } from '@/design';
import { kindOf } from '@/questions';
import { compact } from '../results/search';
import { limitOf, limitProblem } from './limits';
import { guess, type Mapping, problemsOf } from './mapping';

type NewRun = Schemas['NewRun'];
type DryRun = Schemas['DryRun'];

interface Options {
  name: string;
  version: string;
  context: '' | 'column' | 'text';
  contextColumn: string;
  contextText: string;
  rate: string;
  places: string;
  pauseAt: string;
}

/** What was chosen for a prism and a file, beside what is guessed. */
interface Chosen {
  options: Partial<Options>;
  fields: Record<string, string>;
  ref?: string;
  labels: Record<string, string>;
}

/** What was chosen survives a reload. Columns that the file does not have, since it was read in another way, are left out. */
function useChosen(prism: Schemas['Prism'], file: Schemas['File']): [Chosen, (change: Partial<Chosen>) => void] {
  const [kept, keep] = useDraft<Chosen>(`run.${prism.id}.${file.id}`);
  const { options = {}, fields = {}, ref, labels = {} } = kept ?? {};
  const known = (name: string | undefined) => !name || (file.columns ?? []).some((column) => column.name === name);
  const only = (names: Record<string, string>) => Object.fromEntries(Object.entries(names).filter(([, name]) => known(name)));
  const { contextColumn, ...others } = options;
  const chosen: Chosen = {
    options: { ...others, ...(contextColumn && known(contextColumn) && { contextColumn }) }, fields: only(fields),
    ...(ref !== undefined && known(ref) && { ref }), labels: only(labels),
  };
  return [chosen, (change) => keep({ ...chosen, ...change })];
}

/** Maps the columns of a file to the fields of a prism, checks the rows, and starts the run. */
export function MapStep({ prism, file }: { prism: Schemas['Prism']; file: Schemas['File'] }) {
  const columns = file.columns ?? [];
  const [chosen, choose] = useChosen(prism, file);
  const { fields, ref, labels } = chosen;
  const options: Options = {
    name: file.name, version: '', context: '', contextColumn: '', contextText: '', rate: '', places: '', pauseAt: '',
    ...chosen.options,
  };
  const [labelled] = useState(Object.values(labels).some(Boolean));
  const pinned = Number(options.version) || prism.latest_version;
  const { data: other } = useVersion(pinned === prism.latest_version ? undefined : prism.slug, pinned);
  const version = pinned === prism.latest_version ? prism.version : other;
  const guessed = useMemo(() => guess(version?.fields ?? [], columns), [version, columns]);
  const mapping: Mapping = { ref: ref ?? guessed.ref, fields: {
    ...guessed.fields, ...Object.fromEntries(Object.entries(fields).filter(([key]) => key in guessed.fields)),
  } };
  const mayLabel = useCan('edit');
  const problems = problemsOf(mapping, columns);
  const whole = Object.values(mapping.fields).every(Boolean);
  const sound = ![limitProblem(options.rate), limitProblem(options.places, true), limitProblem(options.pauseAt)].some(Boolean);
  const set = (change: Partial<Options>) => choose({ options: { ...chosen.options, ...change } });
  const body: NewRun = compact({
    file_id: file.id, fields: mapping.fields, ref: mapping.ref || undefined, version: Number(options.version) || undefined,
    name: options.name.trim() || undefined,
    labels: labelsOf(labels, version?.questions ?? []),
    context: (options.context === 'column' ? options.contextColumn : options.context === 'text' ? options.contextText : '')
      || undefined,
    rows_per_second: limitOf(options.rate), concurrency: limitOf(options.places),
    pause_at_failures: options.pauseAt.trim() ? typedNumber(options.pauseAt) / 100 : undefined,
  });
  if (!version) return null;
  return (
    <>
      <Section title="Columns">
        <div className="runs-map">
          {version.fields.map(({ key, label }) => (
            <Column key={key} label={label ?? key} columns={columns} value={mapping.fields[key] ?? ''} error={problems[key]}
              hint={hintOf(fields[key] === undefined && Boolean(guessed.fields[key]), columns, mapping.fields[key])}
              onValue={(value) => choose({ fields: { ...fields, [key]: value } })} />
          ))}
          <Column label="Reference (optional)" columns={columns} value={mapping.ref} none="No reference" error={problems.ref}
            hint={ref === undefined && guessed.ref
              ? 'Guessed by its name. Your own name of each row, kept as the ref of its result.'
              : 'Your own name of each row, kept as the ref of its result.'}
            onValue={(name) => choose({ ref: name })} />
        </div>
        {Object.values(mapping.fields).some((name, i, all) => name && all.indexOf(name) !== i) && (
          <Note tone="warn">One column is the value of several fields.</Note>
        )}
        {mayLabel && (
          <details className="runs-about" open={labelled || undefined}>
            <summary>Columns that say what was right</summary>
            <div className="stack">
              <p className="soft">
                If people have answered some of these questions in the file, their answers become labels, by which Quality
                measures how often the prism is right. They are not sent to a model.
              </p>
              <div className="runs-map">
                {version.questions.map(({ key, text, type }) => (
                  <Column key={key} label={text} columns={columns} value={labels[key] ?? ''} none="No column"
                    hint={kindOf({ type }).cells}
                    onValue={(value) => choose({ labels: { ...labels, [key]: value } })} />
                ))}
              </div>
            </div>
          </details>
        )}
        <Preview file={file} version={version} mapping={mapping} />
      </Section>
      <Section title="Options"><OptionFields {...{ options, set, columns, prism }} /></Section>
      <Check key={JSON.stringify(body)} prism={prism.slug} questions={version.questions}
        {...{ file, body, whole, sound }} />
    </>
  );
}

/** The columns of labels that are chosen, of questions that there are; undefined for none. */
function labelsOf(chosen: Record<string, string>, questions: { key: string }[]): Record<string, string> | undefined {
  const set = Object.entries(chosen).filter(([key, column]) => column && questions.some((question) => question.key === key));
  return set.length ? Object.fromEntries(set) : undefined;
}

function hintOf(
  guessed: boolean, columns: NonNullable<Schemas['File']['columns']>, name: string | undefined,
): string | undefined {
  const column = columns.find((one) => one.name === name);
  if (!column) return undefined;
  const cells = `${count(column.filled, 'filled cell')}, the longest has ${count(column.longest, 'character')}.`;
  return guessed ? `Guessed. ${cells}` : cells;
}

interface ColumnProps {
  label: string;
  columns: NonNullable<Schemas['File']['columns']>;
  value: string;
  onValue: (value: string) => void;
  error?: string | undefined;
  hint?: string | undefined;
  none?: string;
}

/** Chooses a column of a file. */
export function Column({ label, columns, value, onValue, error, hint, none = 'Choose a column' }: ColumnProps) {
  return (
    <Select label={label} value={value} error={error} hint={hint} onChange={(event) => onValue(event.target.value)}>
      <option value="">{none}</option>
      {columns.map(({ name }) => <option key={name} value={name}>{name}</option>)}
    </Select>
  );
}

/** The first rows as they will be sent. */
function Preview({ file, version, mapping }: { file: Schemas['File']; version: Schemas['Version']; mapping: Mapping }) {
  const { data: rows, error } = useFileRows(file.id);
  const heads = [
    ...version.fields.map(({ key, label }) => ({ name: label ?? key, column: mapping.fields[key] })),
    ...(mapping.ref ? [{ name: 'Reference', column: mapping.ref }] : []),
  ];
  return (
    <>
      <ErrorNote error={error} title="The rows could not be read." />
      <div className="runs-preview" role="region" aria-label="The first rows" tabIndex={0}>
        <table className="table" aria-label="The first rows as they will be sent">
          <thead><tr>{heads.map(({ name }, i) => <th key={i} scope="col">{name}</th>)}</tr></thead>
          <tbody>
            {(rows ?? []).map((row, i) => (
              <tr key={i}>
                {heads.map(({ column }, j) => (
                  <td key={j} className="clip" title={column && row[column]?.slice(0, 1000)}>
                    {column ? (row[column] || <span className="soft">empty</span>) : <span className="soft">–</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface OptionFieldsProps {
  options: Options;
  set: (change: Partial<Options>) => void;
  columns: NonNullable<Schemas['File']['columns']>;
  prism: Schemas['Prism'];
}

function OptionFields({ options, set, columns, prism }: OptionFieldsProps) {
  return (
    <div className="runs-map">
      <Input label="Name (optional)" value={options.name} maxLength={200} hint="What people call the run."
        onChange={(event) => set({ name: event.target.value })} />
      <Select label="Version" value={options.version} onChange={(event) => set({ version: event.target.value })}>
        <option value="">The latest, {prism.latest_version}</option>
        {Array.from({ length: prism.latest_version }, (_, i) => prism.latest_version - i).map((n) => (
          <option key={n} value={n}>{n}</option>
        ))}
      </Select>
      <Select label="Context" value={options.context}
        options={[['', 'None'], ['column', 'A column'], ['text', 'The same text for every row']]}
        hint="What the model should know beside the fields."
        onChange={(event) => set({ context: event.target.value as Options['context'] })} />
      {options.context === 'column' && (
        <Column label="Column of the context" columns={columns} value={options.contextColumn}
          onValue={(contextColumn) => set({ contextColumn })} />
      )}
      {options.context === 'text' && (
        <Input label="Context of every row" value={options.contextText}
          error={columns.some(({ name }) => name === options.contextText)
            ? 'A column has this name, so its cells would be the contexts.'
            : undefined} onChange={(event) => set({ contextText: event.target.value })} />
      )}
      <Input label="Rows a second at most" inputMode="decimal" placeholder="no limit" value={options.rate}
        error={limitProblem(options.rate)} onChange={(event) => set({ rate: event.target.value })} />
      <Input label="Rows at the model at once, at most" inputMode="numeric" placeholder="no limit" value={options.places}
        error={limitProblem(options.places, true)} onChange={(event) => set({ places: event.target.value })} />
      <Input label="Pause at failures, in %" inputMode="decimal" placeholder="50" hint="Of the last 200 rows."
        value={options.pauseAt} error={limitProblem(options.pauseAt)}
        onChange={(event) => set({ pauseAt: event.target.value })} />
    </div>
  );
}

interface CheckProps {
  prism: string;
  questions: Question[];
  file: Schemas['File'];
  body: NewRun;
  whole: boolean;
  sound: boolean;
}

/** A dry run of exactly what would start, and the start. */
function Check({ prism, questions, file, body, whole, sound }: CheckProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const once = useRef(crypto.randomUUID()); // a start whose response was lost is no second run
  const params = { path: { prism } };
  const dry = useMutation({ mutationFn: () => ask(api.POST(
    '/v1/prisms/{prism}/runs', { params, body: { ...body, dry_run: true } },
  )) as Promise<unknown> as Promise<DryRun> });
  const start = useMutation({
    mutationFn: () => ask(api.POST(
      '/v1/prisms/{prism}/runs', { params, body: { ...body, idempotency_key: once.current } },
    )) as Promise<unknown> as Promise<Schemas['Run']>,
    onSuccess: (run) => {
      told(client, run);
      void client.invalidateQueries({ queryKey: ['runs', 'list'] });
      void navigate({ to: '/runs/$run', params: { run: run.id } });
    },
  });
  const error = start.error ?? dry.error;
  const maps = Object.entries(body.fields ?? {})
    .filter(([field, column]) => field !== column)
    .map(([field, column]) => ` --map ${shellWord(`${field}=${column}`)}`)
    .join('');
  const labels = Object.entries(body.labels ?? {}).map((of) => ` --label ${shellWord(of.join('='))}`).join('');
  const ref = body.ref ? ` --ref ${shellWord(body.ref)}` : '';
  const mapped = `${maps}${labels}${ref}${flagsOf(body)}`;
  return (
    <Section title="Check and start">
      <div className="row">
        <Button icon="check" disabled={!whole || !sound} busy={dry.isPending} onClick={() => dry.mutate()}>Check the rows</Button>
        <Button variant="primary" icon="play" disabled={!whole || !sound} busy={start.isPending} onClick={() => start.mutate()}>
          Start the run of {count(file.rows ?? 0, 'row')}
        </Button>
      </div>
      {!whole && <p className="soft">Choose a column for each field first.</p>}
      {!sound && <p className="soft">Mend the options above first.</p>}
      {dry.isPending && <p role="status">Checking the rows takes up to 20 seconds. Nothing is sent to a model.</p>}
      {error instanceof ApiError && error.problems.length > 0
        ? error.problems.map(({ path, message }) => <Note key={path} tone="bad"><code>{path}</code> {inWords(message)}</Note>)
        : <ErrorNote error={error} />}
      {dry.data && <Outcome dry={dry.data} questions={questions} />}
      <Code text={`prismctl runs create --file-id ${file.id} --prism ${shellWord(prism)}${mapped} --watch`}
        label="Copy command" />
    </Section>
  );
}

const flags = {
  name: 'name', version: 'version', context: 'background', rows_per_second: 'rows-per-second', concurrency: 'concurrency',
  pause_at_failures: 'pause-at-failures',
} as const;

const flagsOf = (body: NewRun) => (Object.keys(flags) as (keyof typeof flags)[])
  .map((member) => (body[member] == null ? '' : ` --${flags[member]} ${shellWord(String(body[member]))}`)).join('');

function Outcome({ dry, questions }: { dry: DryRun; questions: Question[] }) {
  const part = dry.rows_checked < dry.rows;
  const facts: [string, string][] = [
    ['Rows', shown(dry.rows)], ['Invalid rows', shown(dry.invalid_total)], ['Tokens, about', shown(dry.tokens)],
    ['Calls of the model', shown(dry.model_calls)],
    ['Cost, about', dry.cost === null ? 'no price is configured' : money(dry.cost, dry.currency)],
    ...(dry.seconds === null ? [] : [['Time at least', duration(dry.seconds * 1000)] as [string, string]]),
  ];
  return (
    <div className="stack" role="status">
      <dl className="runs-figures num">{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
      {part && (
        <Note>
          The first {shown(dry.rows_checked)} rows were checked, which took 20 seconds; the sums are for all rows in proportion.
        </Note>
      )}
      {dry.invalid_total > 0 ? (
        <>
          <Note tone="warn">
            {count(dry.invalid_total, 'row')} would be refused. They are kept as invalid and not sent; the others run.
          </Note>
          <Why label="Invalid rows" rows={dry.invalid} total={dry.invalid_total} />
        </>
      ) : <Note tone="good">{part ? 'Every checked row can be sent.' : 'Every row can be sent.'}</Note>}
      {dry.invalid_labels_total > 0 && (
        <>
          <Note tone="warn">
            {count(dry.invalid_labels_total, 'cell')} with what was right {dry.invalid_labels_total === 1 ? 'has' : 'have'} no
            answer that the question knows. The rows are answered, without that label.
          </Note>
          <Why label="Cells that are no label" total={dry.invalid_labels_total} rows={dry.invalid_labels.map((one) =>
            ({ ...one, message: labelProblem(one.message, questions) }))} />
        </>
      )}
    </div>
  );
}

/** The first rows of something that is wrong, and why. */
export function Why({ label, rows, total }: { label: string; rows: DryRun['invalid']; total: number }) {
  const same = new Map<string, number[]>();
  for (const { row, message } of rows) same.set(message, [...(same.get(message) ?? []), row]);
  return (
    <>
      <table className="table" aria-label={label}>
        <thead><tr><th scope="col">Row</th><th scope="col">Why</th></tr></thead>
        <tbody>
          {[...same].map(([message, all]) => (
            <tr key={message}><td className="num">{rowsOf(all)}</td><td className="runs-why">{message}</td></tr>
          ))}
        </tbody>
      </table>
      {total > rows.length && <p className="soft">These are of the first {count(rows.length, 'one')}.</p>}
    </>
  );
}

const named = 5; // rows of a problem; how many there are beside them is said

const rowsOf = (rows: number[]) =>
  rows.slice(0, named).map((row) => shown(row)).join(', ')
  + (rows.length > named ? ` and ${shown(rows.length - named)} more` : '');

const mostValues = 12;

/** Why a cell is no label, such as `labels.refund: Expected yes or no`, with the words of the question. */
function labelProblem(message: string, questions: Question[]): string {
  const [, key, what] = /^(?:labels\.)?([^:]+): Expected (.+)$/.exec(message) ?? [];
  const question = questions.find((one) => one.key === key);
  if (!question || !what) return message;
  const values = kindOf(question).values(question).map(({ label }) => label);
  const left = values.length - mostValues;
  const some = values.slice(0, mostValues).join(', ');
  return `${question.text} The cell is none of ${some}${left > 0 ? ` and ${shown(left)} more` : ''}.`;
}
