import type { Schemas } from '@/api';
import { duration, exactTime, Status, Time } from '@/design';
import { breakable } from '@/answers/Answers';
import { cellText, type Shaped, summary } from '@/answers/words';
import type { Result } from './data';
import type { FitColumn } from './fit';

/** The columns of a list of results: those of the Lens when it is of one prism, else a summary of the answers. */
export function columnsOf(prism: Schemas['Prism'] | undefined, ofOne: boolean): FitColumn<Result>[] {
  const typeOf = (key: string) => prism?.version.questions.find((question) => question.key === key)?.type;
  const answers: FitColumn<Result>[] = ofOne
    ? (prism?.lens.columns ?? []).map((column, index) => ({
        id: `lens ${column.name}`,
        head: <span title={column.name}>{breakable(column.name)}</span>,
        cell: ({ answers: all, error }) =>
          answerCell(all, error, index, cellText(all?.[column.name] as Shaped, column, prism?.version.questions)),
        title: ({ answers: all, error }) => all ? String(all[column.name] ?? '') : (error ?? undefined),
        width: Math.max(leastOf(column.name), column.show !== 'answer' ? 72 : typeOf(column.question) === 'yes_no' ? 64 : 128),
        narrow: 96,
        grow: column.show === 'answer' && typeOf(column.question) !== 'yes_no' ? 2 : 0.5,
        align: column.show === 'answer' ? undefined : 'end',
        rank: index === 0 ? 0 : 3 + index,
      }))
    : [{
        id: 'answers',
        head: 'Answers',
        cell: ({ answers: all, error }) => (all ? summary(all as Record<string, Shaped>) : <span className="soft">{error}</span>),
        title: ({ answers: all, error }) => (all ? summary(all as Record<string, Shaped>) : (error ?? undefined)),
        width: 140, narrow: 90, grow: 4, rank: 0,
      }];
  return [
    {
      id: 'time', head: 'Time', cell: ({ created_at }) => <Time at={created_at} />,
      title: ({ created_at }) => exactTime(created_at), width: 132, narrow: 122, rank: 0,
    },
    ...(ofOne ? [] : [{
      id: 'prism', head: 'Prism',
      cell: ({ prism: slug, version }: Result) => <>{slug} <span className="soft">v{version}</span></>, width: 128, grow: 0.5,
      rank: 1,
    }]),
    {
      id: 'ref', head: 'Ref', cell: ({ ref }) => ref ?? <span className="soft">–</span>, title: ({ ref }) => ref ?? undefined,
      width: 112, grow: 0.5, rank: 2,
    },
    statusColumn,
    ...answers,
    ...(ofOne
      ? [{ id: 'version', head: 'Version', cell: ({ version }: Result) => version, width: 80, align: 'end' as const, rank: 4.5 }]
      : []),
    {
      id: 'took', head: 'Took', cell: ({ took_ms }) => duration(took_ms), title: ({ took_ms }) => `${took_ms} ms`, width: 88,
      align: 'end', rank: 2.5,
    },
  ];
}

/** The status, of which a narrow table has the icon. */
export const statusColumn = {
  id: 'status', head: <span className="narrow-unseen">Status</span>,
  cell: ({ status }: { status: string }) => <Status status={status} />,
  title: ({ status }: { status: string }) => status, width: 88, narrow: 32, rank: 0,
};

/** The pixels that the longest part of a name takes, which breaks after each underscore, up to 128. */
const leastOf = (name: string) => Math.min(128, 28 + 7 * Math.max(...name.split('_').map((part) => part.length)));

/** A failed result says why in the first of its empty cells. */
function answerCell(answers: Result['answers'], error: string | null, index: number, text: string) {
  if (answers) return text;
  return <span className="soft">{index === 0 ? error : '–'}</span>;
}
