import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { breakable, LensValue } from '@/answers/Answers';
import { sentText } from '@/answers/words';
import { api, ApiError, ask, useCan } from '@/api';
import { limits } from '@/api/limits';
import { useDraft } from '@/data/drafts';
import { previewLens, type Prism, prismQuery, usePrismOfPage } from '@/data/prisms';
import { lensChanges } from '@/definitions/diff';
import {
  boundsIn, boundsOf, columnOf, columnWords, derived, type DraftColumn, draftColumn, freeName, optionsOf, plainColumn, shows,
  showsOf,
} from '@/definitions/lens';
import { draftOf, type LensColumn, same } from '@/definitions/model';
import { localLensProblems, problemsByPath, together } from '@/definitions/problems';
import {
  Button, ButtonLink, Checkbox, count, Empty, ErrorNote, Icon, Note, Section, Skeleton, Status, Time, toast,
} from '@/design';
import { kindOf, type Show } from '@/questions';
import { useActions } from '@/shell/actions';
import { Changes } from './Changes';
import { Choice, EditingProvider, Text, useEditing } from './Control';
import { Foot } from './Foot';
import { Items } from './Items';
import { useSettled } from './useProblems';

/** What is kept of an edit: the Lens and the entity tag that it began from, and what was made of it. */
interface Kept {
  etag: string;
  before: LensColumn[];
  columns: DraftColumn[];
}

export function Lens(): ReactNode {
  const { prism, etag } = usePrismOfPage();
  const client = useQueryClient();
  const canEdit = useCan('edit');
  const { questions, fields } = prism.version;
  const stored = prism.lens.columns.map(plainColumn);
  const [kept, setKept] = useDraft<Kept>(`lens.${prism.id}`);
  const [fresh, setFresh] = useState(() => ({ of: prism.lens, columns: stored.map(draftColumn) }));
  if (fresh.of !== prism.lens) setFresh({ of: prism.lens, columns: stored.map(draftColumn) });
  const columns = kept?.columns ?? fresh.columns;
  const [edited, setEdited] = useState<string>();
  const [open, setOpen] = useState<string>();
  const sent = columns.map((c) => columnOf(c, questions));
  const found = lensChanges(stored, sent);
  const changed = !same(stored, sent);
  // Another change of the prism, such as a name, changes the tag too: only another Lens is a conflict.
  const overtaken = kept !== undefined && kept.etag !== etag && !same(kept.before, stored);
  const change = (next: DraftColumn[]) => setKept({ etag: kept?.etag ?? etag, before: kept?.before ?? stored, columns: next });
  const disabled = !canEdit || prism.archived_at !== null;
  const local = localLensProblems(columns, prism.version);
  const preview = usePreview(prism, sent, local.size === 0);
  const problems = together(
    local, preview.error instanceof ApiError && preview.current ? problemsByPath(preview.error.problems) : new Map(),
  );

  const save = useMutation({
    mutationFn: () => ask(api.PUT(
      '/v1/prisms/{prism}/lens',
      { params: { path: { prism: prism.slug }, header: { 'If-Match': etag } }, body: { columns: sent } },
    )),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['prism', prism.slug] });
      setKept(undefined);
      for (const queryKey of [['prisms'], ['results']]) void client.invalidateQueries({ queryKey });
      toast('Lens saved. It shows old results too.');
    },
    onError: (error) => {
      if (error instanceof ApiError && error.status === 409) void client.invalidateQueries(prismQuery(prism.slug));
    },
  });
  const send = () => { if (changed && problems.size === 0 && !overtaken && !save.isPending) save.mutate(); };
  useActions(disabled ? [] : [
    { id: 'save lens', group: prism.slug, label: 'Save Lens', words: 'columns', run: send },
    {
      id: 'derive lens', group: prism.slug, label: 'Reset the columns', words: 'lens derive anew',
      run: () => change(derived(questions).map(draftColumn)),
    },
  ]);
  return (
    <EditingProvider value={{ problems, all: true, disabled }}>
      {!canEdit && <Note>Your role may not change the Lens. Owners and editors may.</Note>}
      {overtaken && (
        <Note tone="warn"
          action={<Button small onClick={() => setKept({ etag, before: stored, columns })}>Keep my columns</Button>}>
          <strong>Somebody saved another Lens while you edited this one.</strong> Your columns are still here. What the other
          changed:
          <Changes changes={lensChanges(kept.before, stored)} none="The order of the columns." />
        </Note>
      )}
      <div className="lens-sides">
        <Section title="Columns"
          actions={!disabled && (
            <Button small variant="quiet" icon="retry" onClick={() => change(derived(questions).map(draftColumn))}>
              Reset columns
            </Button>
          )}>
          <p className="soft">
            The Lens is what calls and downloads show of each answer. A change shows old results too, and asks no model. A
            calibrated column shows what the calibration in use makes of the probabilities, and nothing where none is used.
          </p>
          <Items<DraftColumn> items={columns} onChange={change} noun="column" nameOf={(c) => c.name} disabled={disabled}
            error={problems.get('columns')}
            add={{ label: 'Add column', most: limits.columns.most, make: () => {
              const made =
                draftColumn({ name: freeName(questions[0]!.key, sent, fields), question: questions[0]!.key, show: 'answer' });
              setOpen(made.id);
              return made;
            } }}>
            {(column, i, update, buttons) => {
              const at = `columns.${i}`;
              // A column with a problem stays open, so that the list of problems leads to it.
              const wrong = [...problems.keys()].some((path) => path.startsWith(`${at}.`));
              return (
                <div onFocus={() => setEdited(column.id)}>
                  <ColumnRow column={column} prism={prism} buttons={buttons} open={wrong || open === column.id}
                    onOpen={() => setOpen(open === column.id ? undefined : column.id)} />
                  {(wrong || open === column.id) && (
                    <div onFocus={() => setOpen(column.id)}>
                      <ColumnEditor column={column} at={at} prism={prism} onChange={update} />
                    </div>
                  )}
                </div>
              );
            }}
          </Items>
          {!disabled && (
            <Foot problems={problems} draft={draftOf(prism.version)} checking={preview.checking} other={undefined}
              words={changed ? `${count(Math.max(1, found.length), 'change')}, kept in this tab` : 'No changes'}>
              {kept && (
                <Button
                  onClick={() => { const undo = kept; setKept(undefined); toast('Changes discarded.', () => setKept(undo)); }}>
                  Discard
                </Button>
              )}
              <Button variant="primary" busy={save.isPending} disabled={!changed || overtaken || problems.size > 0}
                onClick={send}>
                Save Lens
              </Button>
            </Foot>
          )}
          <ErrorNote error={save.error} title="The Lens was not saved." />
        </Section>
        <Section title="Newest results">
          <Rows preview={preview} prism={prism} columns={sent} edited={columns.find(({ id }) => id === edited)?.name} />
        </Section>
      </div>
    </EditingProvider>
  );
}

/** The newest 20 results through the columns that are typed. While they have a problem, the last rows stay. */
function usePreview(prism: Prism, columns: LensColumn[], valid: boolean) {
  const newest = useQuery({
    queryKey: ['prism', prism.slug, 'newest'],
    queryFn: ({ signal }) =>
      ask(api.GET('/v1/results', { params: { query: { prism: prism.slug, limit: 20, fields: 'true' } }, signal })),
    placeholderData: undefined,
  });
  const text = JSON.stringify(columns);
  const settled = useSettled(text, 120);
  const ids = newest.data?.data.map((r) => r.id);
  const rows = useQuery({
    queryKey: ['prism', prism.slug, 'preview', settled, ids],
    queryFn: ({ signal }) => previewLens(prism.slug, JSON.parse(settled) as LensColumn[], ids!, signal),
    enabled: ids !== undefined && valid && settled === text,
    placeholderData: keepPreviousData,
    gcTime: 60_000,
  });
  return { newest, rows, error: rows.error, current: settled === text, checking: rows.isFetching || settled !== text };
}

function Rows({ preview: { newest, rows }, prism, columns, edited }: {
  preview: ReturnType<typeof usePreview>; prism: Prism; columns: LensColumn[]; edited: string | undefined;
}) {
  const box = useRef<HTMLDivElement>(null);
  const there = rows.data?.columns.includes(edited ?? '') ?? false;
  // Columns that do not fit scroll: the one that is edited is in view.
  useEffect(() => {
    const [pane, head] = [box.current, box.current?.querySelector<HTMLElement>('th.edited')];
    if (!there || !pane || !head) return;
    const still = pane.querySelector('th')!.offsetWidth; // the first column stays where it is
    const [start, end] = [head.offsetLeft - still, head.offsetLeft + head.offsetWidth - pane.clientWidth];
    if (start < pane.scrollLeft) pane.scrollLeft = start;
    else if (end > pane.scrollLeft) pane.scrollLeft = end;
  }, [edited, there]);
  const invalid = rows.error instanceof ApiError && rows.error.problems.length > 0;
  if (newest.error) return <ErrorNote error={newest.error} onRetry={() => void newest.refetch()} />;
  if (newest.data?.data.length === 0) {
    return (
      <Empty title="No results yet" drawing="results"
        command={`prismctl call ${prism.slug} ${prism.version.fields.map((f) => `--field ${f.key}=…`).join(' ')}`}
        action={<ButtonLink to="/prisms/$prism/try" params={{ prism: prism.slug }} variant="primary">Try the prism</ButtonLink>}>
        The newest 20 results stand here through the columns beside, while you type.
      </Empty>
    );
  }
  const data = rows.data;
  const texts = new Map(newest.data?.data.map(({ id, fields }) => [id, sentText(fields)]));
  const ends = (name: string) => data?.data.some(({ result }) => typeof result.answers?.[name] === 'number');
  const classOf = (name: string) => [ends(name) && 'end', name === edited && 'edited'].filter(Boolean).join(' ') || undefined;
  return (
    <>
      {!invalid && <ErrorNote error={rows.error} title="The preview could not be loaded." onRetry={() => void rows.refetch()} />}
      {data ? (
        <div ref={box} className="preview" tabIndex={0} role="region" aria-label="Newest results through these columns"
          aria-busy={rows.isPlaceholderData || undefined}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Text</th>
                {data.columns.map((name) => <th key={name} scope="col" className={classOf(name)}>{breakable(name)}</th>)}
                <th scope="col">Status</th><th scope="col">Created</th>
              </tr>
            </thead>
            <tbody>
              {data.data.map(({ result, missing }) => (
                <tr key={result.id}>
                  <td><span className="preview-text" title={texts.get(result.id)}>{texts.get(result.id)}</span></td>
                  {data.columns.map((name) => {
                    const value = result.answers?.[name];
                    const why = value == null ? missing[name] ?? result.error ?? undefined : undefined;
                    return (
                      <td key={name} className={classOf(name)} title={why}>
                        <LensValue value={value} column={columns.find((column) => column.name === name)}
                          questions={prism.version.questions} />
                      </td>
                    );
                  })}
                  <td><Status status={result.status} /></td>
                  <td><Time at={result.created_at} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : !rows.error && <Skeleton shape="results" lines={8} />}
    </>
  );
}

interface ColumnRowProps {
  column: DraftColumn;
  prism: Prism;
  open: boolean;
  onOpen: () => void;
  buttons: ReactNode;
}

/** A column as a row: its name, and of which question it shows what. A press opens it in place. */
function ColumnRow({ column: c, prism, open, onOpen, buttons }: ColumnRowProps) {
  const { questions } = prism.version;
  return (
    <div className="column-row">
      <button type="button" className="button quiet column-open" aria-expanded={open} onClick={onOpen}>
        <Icon name={open ? 'down' : 'right'} />
        <span>
          <strong>{c.name ? breakable(c.name) : 'Without a name'}</strong>{' '}
          <span className="soft">
            {questions.find((q) => q.key === c.question)?.text ?? c.question} {columnWords(c, questions)}
          </span>
        </span>
      </button>
      {buttons}
    </div>
  );
}

const hints: Partial<Record<Show, string>> = {
  confidence: 'How far the answer is from a guess: 1 is sure, 0 is as likely as any.',
  count: 'How many options are in the answer.',
};

interface ColumnEditorProps {
  column: DraftColumn;
  at: string;
  prism: Prism;
  onChange: (column: DraftColumn) => void;
}

export function ColumnEditor({ column: c, at, prism, onChange }: ColumnEditorProps) {
  const { questions } = prism.version;
  const { disabled } = useEditing();
  const question = questions.find((q) => q.key === c.question);
  const options = optionsOf(question);
  const possible = showsOf(question);
  const bounds = boundsOf(c, question);
  const bounded = boundsIn(bounds).length > 0;
  const chosen = question ? kindOf(question).chosen : 'the chosen option';
  const set = (part: Partial<DraftColumn>) => onChange({ ...c, ...part });
  return (
    <div className={bounded ? 'column-item bounded' : 'column-item'}>
      <Text path={`${at}.name`} label="Name" value={c.name} onChange={(name) => set({ name })} />
      <Choice path={`${at}.question`} label="Question" value={c.question}
        options={[
          ...questions.map((q): [string, string] => [q.key, q.text]),
          ...(question ? [] : [[c.question, `${c.question}, not in the latest version`] as [string, string]]),
        ]}
        onChange={(key) => {
          const next = questions.find((q) => q.key === key);
          set({ question: key, option: '', ...(!showsOf(next).includes(c.show) && { show: 'answer' as const }) });
        }} />
      <Choice path={`${at}.show`} label="Show" value={c.show} onChange={(show) => set({ show: show as Show })}
        hint={hints[c.show]}
        options={[...possible, ...(possible.includes(c.show) ? [] : [c.show])].map((show): [string, string] =>
          [show, shows[show] ?? show])} />
      {c.show === 'probability' && options.length > 0 && (
        <Choice path={`${at}.option`} label="Of" value={c.option} onChange={(option) => set({ option })}
          options={[
            ['', chosen ?? 'Choose an option …'],
            ...options.map((o): [string, string] => [o.key, o.label]),
          ]} />
      )}
      {boundsIn(bounds).map(([member, { label, usual }]) => (
        <Text key={member} path={`${at}.${member}`} label={label} inputMode="decimal" placeholder={String(usual)}
          value={member === 'yes_at' ? c.yesAt : c.noAt}
          onChange={(typed) => set(member === 'yes_at' ? { yesAt: typed } : { noAt: typed })} />
      ))}
      <Checkbox label="Calibrated" checked={c.calibrated ?? false} disabled={disabled}
        onChange={(event) => set({ calibrated: event.target.checked })} />
    </div>
  );
}
