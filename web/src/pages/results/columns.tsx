import type { ReactNode } from 'react';
import { answerWords, Chip, Dot } from '@/answers/Chip';
import { type Question, sentText, titleOf } from '@/answers/words';
import type { Schemas } from '@/api';
import { type Listed, useModelOf } from '@/data/results';
import { duration, exactTime, Status, Time } from '@/design';
import { exactly, wholePercent } from '@/design/numbers';
import { kindOf, thresholds } from '@/questions';
import type { FitColumn } from './fit';
import type { Wanted } from './wanted';

type Prism = Schemas['Prism'];

/**
 * The columns of a list of results: the text, an answer to each question of one prism, or the first of several prisms, and what
 * the reader wants of the rest.
 */
export function columnsOf(
  prism: Prism | undefined, prisms: Prism[], wanted: Wanted, sort: string | undefined,
): FitColumn<Listed>[] {
  const rest = extras.filter((column) => wanted(column.id));
  const all = [textColumn(prism), ...(prism ? answersOf(prism, wanted, sort) : [prismColumn, several(prisms)]), ...rest];
  const by = all.find((column) => column.sort && column.sort === sort?.replace(/^-/, ''));
  // What the rows are sorted by is seen before the others, but for the text.
  return by ? all.map((column, index) => ({ ...column, rank: column === by || index === 0 ? 0 : column.rank + 0.01 })) : all;
}

/** The text in two lines: the widest column, which always stays. */
function textColumn(prism: Prism | undefined): FitColumn<Listed> {
  const fields = prism?.version.fields ?? [];
  return {
    id: 'text', head: fields.length === 1 ? fields[0]!.label || titleOf(fields[0]!.key) : 'Text',
    cell: ({ fields: sent }) => <Text text={sentText(sent)} />, title: ({ fields: sent }) => sentText(sent).slice(0, 1000),
    width: 200, narrow: 150, grow: 5, rank: 0,
  };
}

/** Two lines of a text. */
export const Text = ({ text }: { text: string }) =>
  text ? <span className="results-text">{text.slice(0, 400)}</span> : <span className="soft">no text</span>;

/** An answer to each question of the latest version. A failed result says why in the first of its cells. */
function answersOf(prism: Prism, wanted: Wanted, sort: string | undefined): FitColumn<Listed>[] {
  const by = sort?.replace(/^-/, '');
  // An order by one of several options is that of their column.
  const sortOf = (question: Question) => kindOf(question).sort(question) ?? (by?.startsWith(`${question.key}.`) ? by : undefined);
  const shown = prism.version.questions.filter(({ key }) => wanted(`${prism.slug}/${key}`));
  return shown.map((question, index) => ({
    id: `answer ${question.key}`,
    head: <span title={question.text}>{titleOf(question.key)}</span>,
    cell: ({ answers, error }) => {
      const answer = answers?.[question.key] as Schemas['Answer'] | undefined;
      if (answer) return <Chip answer={answer} question={question} bounds={thresholds(question, prism.lens.columns)} />;
      return answers || index > 0 ? <span className="soft">–</span> : <Failed error={error} />;
    },
    title: ({ answers, error }) => (answers ? undefined : (error ?? undefined)),
    width: kindOf(question).width, narrow: Math.min(128, kindOf(question).width), grow: 1,
    sort: sortOf(question), rank: index === 0 ? 0 : 1 + index / 100,
  }));
}

const Failed = ({ error }: { error: string | null }) =>
  <span className="results-failed"><Status status="failed" /> <span className="soft">{error}</span></span>;

const prismColumn: FitColumn<Listed> = {
  id: 'prism', head: 'Prism', cell: ({ prism }) => prism, width: 112, grow: 0.5, rank: 1,
};

/** The first answers of results of several prisms. */
const several = (prisms: Prism[]): FitColumn<Listed> => ({
  id: 'answers', head: 'Answers', cell: (row) => <Few row={row} prism={prisms.find(({ slug }) => slug === row.prism)} />,
  width: 180, narrow: 128, grow: 3, rank: 0,
});

function Few({ row: { answers, error }, prism }: { row: Listed; prism: Prism | undefined }): ReactNode {
  if (!answers) return <Failed error={error} />;
  const questions = prism?.version.questions ?? [];
  return (
    <span className="results-few">
      {Object.entries(answers as Record<string, Schemas['Answer']>).slice(0, 4).map(([key, answer]) => {
        const question = questions.find((one) => one.key === key);
        const option = kindOf(answer).option?.(answer);
        const bounds = thresholds({ key, type: answer.type }, prism?.lens.columns ?? []);
        const { words, p } = answerWords({ answer, question, bounds });
        return (
          <span key={key} title={`${question?.text ?? key} ${words}: ${exactly(p)}`}>
            <span className="clip">
              {option !== undefined ? <Dot question={question} option={option} />
                : <span className="soft">{titleOf(key)}</span>} {words}
            </span>
            {' '}<span className="soft num">{wholePercent(p)}</span>
          </span>
        );
      })}
    </span>
  );
}

const none = <span className="soft">–</span>;

/** What is in the menu of columns beside the answers. */
export const extras: (FitColumn<Listed> & { name: string })[] = [
  {
    id: 'ref', name: 'Reference', head: <span title="What the caller names the text by: the ref">Reference</span>,
    cell: ({ ref }) => ref ?? none, title: ({ ref }) => ref ?? undefined, width: 112, grow: 0.5, rank: 0.5,
  },
  { id: 'status', name: 'Status', head: 'Status', cell: ({ status }) => <Status status={status} />, width: 88, rank: 0.6 },
  {
    id: 'version', name: 'Version', head: 'Version', cell: ({ version }) => version, width: 84, align: 'end', rank: 0.7,
  },
  {
    id: 'took', name: 'Took', head: 'Took', cell: ({ took_ms }) => duration(took_ms), title: ({ took_ms }) => `${took_ms} ms`,
    width: 88, align: 'end', sort: '@took', rank: 0.8,
  },
  { id: 'model', name: 'Model', head: 'Model', cell: ({ id }) => <Model id={id} />, width: 112, grow: 0.5, rank: 0.9 },
  {
    id: 'time', name: 'Time', head: 'Time', cell: ({ created_at }) => <Time at={created_at} />,
    title: ({ created_at }) => exactTime(created_at), width: 132, align: 'end', sort: '@created', rank: 1,
  },
];

function Model({ id }: { id: string }): ReactNode {
  return useModelOf(id).data ?? none;
}

/** The status, of which a narrow table has the icon. */
export const statusColumn = {
  id: 'status', head: <span className="narrow-unseen">Status</span>,
  cell: ({ status }: { status: string }) => <Status status={status} />,
  title: ({ status }: { status: string }) => status, width: 88, narrow: 32, rank: 0,
};
