import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react';
import type { Question } from '@/answers/words';
import { useCan } from '@/api';
import { labelCommands, queueCommands } from '@/commands/quality';
import { SameCall } from '@/commands/SameCall';
import { useDraft } from '@/data/drafts';
import { usePrismOfPage } from '@/data/prisms';
import { type OpenResult, type QueuedResult, type QueueOf, queuesOf, readOpen } from '@/data/quality';
import { useVersion } from '@/data/results';
import {
  Button, ButtonLink, Checkbox, count, Empty, ErrorNote, Kbd, Note, percent, Select, shown, Skeleton, Toolbar,
} from '@/design';
import { kindOf, labelText, type LabelValue } from '@/questions';
import { choicesOf, sought, toggled } from '@/questions/choices';
import { type Action, useActions } from '@/shell/actions';
import { chipsOf, chipText } from '../results/chips';
import { LongText } from '../results/LongText';
import { compact } from '../results/search';
import { Ask } from './Ask';
import { milestone } from './figures';
import { alike, answered, begin, label, type Labelling, rate, undo } from './labelling';
import { AssignedToYou, OtherVersions } from './OtherVersions';
import { type LabelSearch, queuedVersion } from './search';
import { useCounted } from './useCounted';
import { useSaver } from './useSaver';
import './quality.css';

// Loaded when it is asked for: it has what a new run has too.
const ImportLabels = lazy(async () => ({ default: (await import('./ImportLabels')).ImportLabels }));

const route = getRouteApi('/frame/prisms/$prism/label');

/** One text after the other, with the questions that are asked about it. */
export function Label(): ReactNode {
  const { prism } = usePrismOfPage();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const canLabel = useCan('label');
  const canImport = useCan('edit'); // who uploads files and labels
  const { questions } = prism.version;
  const set = (change: Partial<LabelSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const version = queuedVersion(search, prism.latest_version);
  const of: QueueOf = {
    prism: prism.slug, question: search.question ?? questions[0]!.key, order: search.order ?? 'random', version,
    q: search.q, where: search.where, assignee: search.assignee,
  };
  const chosen = (of.q ?? of.where ?? of.assignee) !== undefined; // somebody chose the results
  if (!canLabel) return <Note>Your role may not label results. Owners, editors and labellers may.</Note>;
  if (search.import) return (
    <Suspense fallback={<Skeleton lines={10} />}>
      <ImportLabels file={search.file} onFile={(file) => set({ file })}
        onClose={() => set({ import: undefined, file: undefined })} />
    </Suspense>
  );
  return (
    <>
      <Toolbar label="What is labelled">
        <Select label="Question" value={search.question ?? ''}
          onChange={(event) => set({ question: event.target.value || undefined })}
          options={[...(questions.length === 1 ? [] : [['', 'All questions'] as const]),
            ...questions.map((q) => [q.key, q.text] as const),
            ...(search.question && !questions.some((q) => q.key === search.question)
              ? [[search.question, search.question] as const] : [])]} />
        <Select label="Order" value={of.order}
          onChange={(event) => set({ order: event.target.value === 'uncertain' ? 'uncertain' : undefined })}
          options={[['random', 'At random'], ['uncertain', 'Least sure first']]} />
        <Select label="Version" value={String(version ?? 'any')}
          onChange={({ target: { value } }) => set({ version: value === 'any' ? value : Number(value) })}
          options={[['any', 'Any version'], ...Array.from(
            { length: prism.latest_version }, (_, i) => String(prism.latest_version - i),
          ).map((v) => [v, v] as const)]} />
        <Checkbox className="quality-calibrated" label="Show the model’s answers" checked={search.answers ?? false}
          onChange={(event) => set({ answers: event.target.checked || undefined })} />
        {canImport && <Button icon="upload" onClick={() => set({ import: true })}>Import from a file</Button>}
      </Toolbar>
      {chosen && (
        <Note action={
          <Button small onClick={() => set({ q: undefined, where: undefined, assignee: undefined })}>Label any result</Button>
        }>
          Only results that match: {chipsOf(compact({ q: of.q, where: of.where, assignee: of.assignee }), {
            prism, key: String, assignee: (to) => ({ me: 'you', none: 'nobody' })[to] ?? to, run: String,
          }, true).map(chipText).join(', ')}.
        </Note>
      )}
      {of.order === 'uncertain' && (
        <Note tone="warn">
          Labels of the least sure answers show where a prism fails. They enter no measure and no calibration, as they say nothing
          about the other answers.
        </Note>
      )}
      <OtherVersions of={of} all={search.question === undefined} onVersion={(to) => set({ version: to })} />
      <Labeller key={JSON.stringify(of)} of={of} all={search.question === undefined} answers={search.answers ?? false}
        onAnswers={() => set({ answers: search.answers ? undefined : true })} assigned={!chosen && (
          <AssignedToYou of={of} all={search.question === undefined}
            onLabel={() => set({ assignee: 'me', version: undefined })} />
        )} />
    </>
  );
}

/**
 * The queues of questions, one after the other, read on before their end is reached, each result once. A page may be empty before
 * the last one.
 */
function useQueue(of: QueueOf, questions: string[]) {
  const query = useInfiniteQuery({
    queryKey: ['label queue', of, questions],
    queryFn: ({ pageParam: { at, cursor }, signal }) => readOpen(of, questions, at, cursor, signal),
    initialPageParam: { at: 0, cursor: undefined as string | undefined },
    getNextPageParam: ({ next_cursor }, _, { at }) => (next_cursor !== null ? { at, cursor: next_cursor }
      : at + 1 < questions.length ? { at: at + 1, cursor: undefined } : undefined),
    // What was labelled leaves the queue: reading it again would shift what is shown.
    staleTime: Infinity, gcTime: 0, refetchOnReconnect: false, placeholderData: undefined,
  });
  const seen = new Set<string>(); // as it was read first: what was labelled here since then is not taken away
  const items = (query.data?.pages.flatMap((page) => page.data) ?? [])
    .filter(({ result_id }) => !seen.has(result_id) && seen.add(result_id));
  return {
    ...query, items, sample: query.data?.pages[0]?.sample ?? of.order,
  };
}

interface LabellerProps {
  of: QueueOf;
  all: boolean;
  answers: boolean;
  onAnswers: () => void;
  assigned: ReactNode;
}

function Labeller({ of, all, answers, onAnswers, assigned }: LabellerProps) {
  const { prism } = usePrismOfPage();
  const queue = useQueue(of, all ? queuesOf(prism.version.questions.map((q) => q.key), of) : [of.question]);
  const [saver, saving] = useSaver(prism);
  const [skipped, setSkipped] = useDraft<string[]>(`skipped.${prism.id}.${of.question}`);
  const [now, setNow] = useState<Labelling>(begin);
  const [times, setTimes] = useState<number[]>([]);
  const [said, setSaid] = useState('');
  // By result and question: what is chosen and not saved yet.
  const [picks, setPicks] = useState<Record<string, string[]>>({});
  const text = useRef<HTMLDivElement>(null);

  // Results that were skipped before this page was opened come back when asked for.
  const [left] = useState(() => new Set(skipped));
  const [withSkipped, setWithSkipped] = useState(false);
  // What is being stored is still in a queue that was read meanwhile.
  const [unsaved] = useState(() => new Set(saver.state.waiting.flatMap(({ result, labels }) =>
    Object.keys(labels).map((key) => `${result} ${key}`))));
  const lacks = (one: OpenResult) => (key: string) =>
    (all || key === of.question) && !one.labelled.includes(key) && !unsaved.has(`${one.result_id} ${key}`);
  const items = queue.items.filter((one) =>
    Object.keys(one.answers).some(lacks(one)) && (withSkipped || !left.has(one.result_id)));
  const item = items[now.at];
  const version = useItemVersion(item);
  const questions = (version?.questions ?? []).filter((q) => item && lacks(item)(q.key));
  const asked = questions.map((q) => q.key);
  const question = questions[Math.min(now.asked, questions.length - 1)];
  const { hasNextPage, isFetching, error, fetchNextPage } = queue;
  const pages = queue.data?.pages.length; // after an empty page, nothing else changes
  const near = now.at >= items.length - 5;
  useEffect(() => {
    if (near && hasNextPage && !isFetching && !error) void fetchNextPage();
  }, [near, hasNextPage, isFetching, error, fetchNextPage, pages]);
  const id = item?.result_id;
  const choices = question ? choicesOf(question) : [];
  const several = question !== undefined && kindOf(question).several !== undefined;
  const seeks = sought(choices);
  const finder = useRef<HTMLInputElement>(null);
  const finding = useRef(false); // options are found by typing until Escape
  const before = useRef<string>(undefined); // the text that was shown
  useEffect(() => {
    // The text of the next result has the focus, so that a screen reader reads it; not at first, when the page is opened. Where
    // options are found by typing, their input has it, which the text describes.
    const to = finding.current && seeks ? finder.current : finding.current || id !== before.current ? text.current : undefined;
    if (id && before.current !== undefined) {
      to?.focus({ preventScroll: window.matchMedia?.('(min-width: 761px)').matches ?? true });
    }
    before.current = id ?? before.current;
  }, [id, question?.key, seeks]);
  const textId = useId();

  /** The options that are chosen for a question of which any number can be right; undefined of other questions. */
  const pickedOf = (q: Question) => {
    if (!item || !kindOf(q).several) return undefined;
    const made = now.made[item.result_id]?.[q.key];
    return picks[`${item.result_id} ${q.key}`] ?? (Array.isArray(made) ? made : []);
  };
  const pick = (q: Question, value: string) => {
    const next = toggled(q, pickedOf(q) ?? [], value);
    setPicks((was) => ({ ...was, [`${item!.result_id} ${q.key}`]: next }));
    setNow((was) => ({ ...was, asked: questions.indexOf(q) }));
    const what = next.includes(value) ? 'chosen' : 'taken away';
    setSaid(`${labelText([value], q)} ${what}, ${count(next.length, 'option')} so far.`);
  };
  const unpick = (result: string, key: string) => setPicks(({ [`${result} ${key}`]: _, ...others }) => others);

  const go = (by: number) => setNow((was) => ({ ...was, at: Math.max(0, Math.min(items.length, was.at + by)), asked: 0 }));
  /** Labels a question: the current one, unless another one was pressed. */
  const put = (value: LabelValue, at = questions.indexOf(question!)) => {
    const of = questions[at];
    if (!item || !of) return;
    const next = label({ ...now, asked: at }, item.result_id, asked, value);
    saver.add({ result: item.result_id, labels: { [of.key]: value }, sample: queue.sample });
    unpick(item.result_id, of.key);
    if (skipped?.includes(item.result_id)) setSkipped(skipped.filter((one) => one !== item.result_id));
    setNow(next);
    setTimes((was) => [...was.slice(-500), Date.now()]);
    setSaid(saidOf(of, value, item, next.at !== now.at));
  };
  const textOf = (key: string) => prism.version.questions.find((q) => q.key === key)?.text ?? key;
  const named = (key: string) => asks({ text: textOf(key) });
  const takeBack = () => {
    const found = undo(now, items.map((one) => one.result_id), asked);
    if (!found) return;
    saver.add({ result: found.step.result, labels: { [found.step.question]: found.step.before ?? null }, sample: queue.sample });
    unpick(found.step.result, found.step.question);
    setNow(found.next);
    setTimes((was) => was.slice(0, -1));
    setSaid(found.step.before === undefined
      ? `${named(found.step.question)} The label is taken back.`
      : `${named(found.step.question)} The label from before is back.`);
  };
  const skip = () => {
    if (!item) return;
    setSkipped([...new Set([...(skipped ?? []), item.result_id])]);
    go(1);
    setSaid('Skipped.');
  };
  const step = (by: number) =>
    setNow((was) => ({ ...was, asked: (was.asked + by + questions.length) % Math.max(1, questions.length) }));
  useActions([
    ...(seeks && item ? [{
      id: 'label find', group: 'Label', label: `${asks(question!)} find an option`, keys: '/',
      run: () => { finding.current = true; finder.current?.focus(); },
    }] : []),
    ...choices.flatMap((choice): Action[] => (choice.keys && item ? [{
      id: `label ${choice.keys}`, group: 'Label', label: `${asks(question!)} ${choice.label}`,
      keys: choice.keys, run: () => (several ? pick(question!, String(choice.value)) : put(choice.value)),
    }] : [])),
    ...(several && item ? [
      {
        id: 'label save', group: 'Label', label: `${asks(question)} save the chosen options`, keys: 'Enter', run: () => {
          const picked = pickedOf(question);
          if (picked?.length) put(picked);
        },
      },
      { id: 'label none', group: 'Label', label: `${asks(question)} none of these`, keys: '0', run: () => put([]) },
    ] : []),
    { id: 'label next', group: 'Label', label: 'Next text', keys: '→', run: () => go(1) },
    { id: 'label previous', group: 'Label', label: 'Previous text', keys: '←', run: () => go(-1) },
    ...(questions.length > 1 ? [
      { id: 'label down', group: 'Label', label: 'Next question', keys: 'j', run: () => step(1) },
      { id: 'label up', group: 'Label', label: 'Previous question', keys: 'k', run: () => step(-1) },
    ] : []),
    { id: 'label skip', group: 'Label', label: 'Skip the text', keys: 's', run: skip },
    { id: 'label undo', group: 'Label', label: 'Undo the last label', keys: 'u', run: takeBack },
    {
      id: 'label answers', group: 'Label', keys: 'm', run: onAnswers,
      label: answers ? 'Hide the model’s answers' : 'Show the model’s answers',
    },
  ]);

  const last = now.steps.at(-1);
  const value = last && now.made[last.result]?.[last.question];
  const done = Object.values(now.made).filter((labels) => Object.keys(labels).length > 0).length;
  const measured = of.version ?? prism.latest_version;
  const keys = prism.version.questions.map((q) => q.key).filter((key) => all || key === of.question);
  const counted = useCounted(prism.slug, measured, keys);
  // Only labels at random of the version that is measured bring its measures nearer.
  const goalOf = ({ key, type }: Question) => {
    const before = counted[key];
    if (before === undefined || of.order !== 'random') return undefined;
    const total = before
      + items.filter((one) => one.version === measured && now.made[one.result_id]?.[key] !== undefined).length;
    return { total, next: milestone(total, type) };
  };
  return (
    <>
      <div>
        <Counts times={times} done={done} made={now.steps.length} waiting={saving.waiting.length}>{assigned}</Counts>
        <p className="label-said" role="status">{said}</p>
      </div>
      {saving.trouble && (
        <Note tone="warn" action={<Button small onClick={() => saver.again()}>Try now</Button>}>
          {count(saving.waiting.length, 'label')} not stored yet: {saving.trouble} It is tried again by itself, and nothing is
          lost.
        </Note>
      )}
      {saving.refused.length > 0 && (
        <Note tone="bad" action={<Button small onClick={() => saver.dismiss()}>Dismiss</Button>}>
          {count(saving.refused.length, 'label was', 'labels were')} refused:{' '}
          {[...new Set(saving.refused.map((one) => one.message))].join(' ')}
        </Note>
      )}
      <ErrorNote error={error} title="The queue could not be loaded."
        onRetry={() => void (queue.data ? fetchNextPage() : queue.refetch())} />
      {item && version && question ? (
        <div className="label-sides">
          <div className="label-text" ref={text} id={textId} tabIndex={-1} role="group" aria-label={`Text ${now.at + 1}`}>
            {item.context && <section><h2>Context, sent with the text</h2><LongText text={item.context} /></section>}
            {Object.entries(item.fields).map(([key, value]) => (
              <section key={key}>
                <h2>{version.fields.find((f) => f.key === key)?.label ?? key}</h2>
                <LongText key={item.result_id} text={value} />
              </section>
            ))}
          </div>
          <div className="label-questions">
            {questions.map((q, i) => (
              <Ask key={q.key} question={q} current={q === question} value={now.made[item.result_id]?.[q.key]}
                onLabel={(value) => put(value, i)} picked={pickedOf(q)} onPick={(value) => pick(q, value)}
                goal={goalOf(q)} finding={{
                  ref: q === question ? finder : undefined, describedBy: textId, onSide: go,
                  onFocus: () => { finding.current = true; setNow((was) => (was.asked === i ? was : { ...was, asked: i })); },
                  onLeave: () => { finding.current = false; text.current?.focus({ preventScroll: true }); },
                }}
                answer={answers || now.made[item.result_id]?.[q.key] !== undefined ? item.answers[q.key] : undefined} />
            ))}
            <div className="row">
              <Button small icon="left" disabled={now.at === 0} onClick={() => go(-1)}>Previous</Button>
              <Button small icon="right" onClick={() => go(1)}>Next</Button>
              <Button small onClick={skip}>Skip <Kbd keys="s" /></Button>
              <Button small disabled={now.steps.length === 0} onClick={takeBack}>Undo <Kbd keys="u" /></Button>
            </div>
            <p className="soft label-foot">
              <span>{item.ref !== null && <>Reference {item.ref} · </>}Version {item.version}</span>
              {now.at + 1 === items.length && !hasNextPage && <span>The last text</span>}
            </p>
          </div>
        </div>
      ) : item || isFetching || hasNextPage ? !error && <Skeleton lines={10} />
        : <End of={of} question={all ? undefined : textOf(of.question)} done={done}
          skipped={withSkipped ? 0 : queue.items.filter((one) => left.has(one.result_id)).length}
          onSkipped={() => setWithSkipped(true)} onBack={now.at > 0 ? () => go(-1) : undefined} />}
      {(item ? version : !isFetching && !hasNextPage) && <SameCall commands={last && value !== undefined
        ? labelCommands(location.origin, { ...last, value, sample: queue.sample }) : queueCommands(location.origin, of)} />}
    </>
  );
}

/** The version that answered a result. */
function useItemVersion(item: QueuedResult | undefined) {
  const { prism } = usePrismOfPage();
  const latest = item?.version === prism.latest_version;
  const old = useVersion(prism.slug, item && !latest ? item.version : undefined);
  return latest ? prism.version : old.data;
}

/** A question before what is said of it. */
const asks = ({ text }: { text: string }) => (/[?.!:…？。！：]$/.test(text.trim()) ? text.trim() : `${text.trim()}:`);

/** What is said of a label: what it is, and whether the model said so. */
export function saidOf(question: Question, value: LabelValue, item: QueuedResult, next: boolean): string {
  const model = answered(item.answers[question.key]);
  const agrees = model && (alike(model.value, value) ? `, as the model said (${percent(model.p)})`
    : `; the model said ${labelText(model.value, question)} (${percent(model.p)})`);
  return `${asks(question)} ${labelText(value, question)}${agrees ?? ''}.${next ? ' Next text.' : ''}`;
}

interface CountsProps {
  times: number[];
  done: number;
  made: number;
  waiting: number;
  children: ReactNode;
}

/** How many labels were made, and how fast. */
function Counts({ times, done, made, waiting, children }: CountsProps) {
  const speed = rate(times);
  return (
    <div className="label-counts">
      <span>
        <strong className="num">{shown(done)}</strong>{' '}
        {done === 1 ? 'text' : 'texts'}, <strong className="num">{shown(made)}</strong>{' '}
        {made === 1 ? 'label' : 'labels'} here
      </span>
      <span className="soft num">{speed === undefined ? '' : `${shown(Math.round(speed))} a minute`}</span>
      <span className="soft">{waiting > 0 ? `Storing ${waiting}` : made > 0 ? 'All stored' : ''}</span>
      {children}
    </div>
  );
}

interface EndProps {
  of: QueueOf;
  question: string | undefined;
  done: number;
  skipped: number;
  onSkipped: () => void;
  onBack: (() => void) | undefined;
}

function End({ of, question, done, skipped, onSkipped, onBack }: EndProps) {
  const canCall = useCan('call');
  return (
    <Empty title={done > 0 ? 'Everything is labelled' : 'Nothing waits for a label'} action={
      <>
        {skipped > 0 && <Button variant="primary" onClick={onSkipped}>Show {count(skipped, 'skipped text')}</Button>}
        <ButtonLink to="/prisms/$prism/quality" params={{ prism: of.prism }}
          search={{ question: of.question, version: of.version }} variant={skipped > 0 ? 'secondary' : 'primary'}>
          Look at the quality
        </ButtonLink>
        {canCall && <ButtonLink to="/runs/new" search={{ prism: of.prism }}>New run</ButtonLink>}
        {onBack && <Button icon="left" onClick={onBack}>Previous text</Button>}
      </>
    } command={`prismctl labels list --prism ${of.prism} --question ${of.question}`}>
      Each result that is ok{of.version !== undefined && ` of version ${of.version}`} has a label
      for {question === undefined ? 'each question' : `“${question}”`}, or there is no result yet. New results of calls and
      runs come here.
    </Empty>
  );
}
