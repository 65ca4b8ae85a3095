import type { Schemas } from '@/api';
import { duration, exactTime, Status, Time } from '@/design';
import { cellText, type Shaped, summary } from '@/answers/words';
import type { Result } from './data';
import type { FitColumn } from './fit';

/** The columns of a list of results: those of the Lens when it is of one prism, else a summary of the answers. */
export function columnsOf(prism: Schemas['Prism'] | undefined, ofOne: boolean): FitColumn<Result>[] {
  const answers: FitColumn<Result>[] = ofOne
    ? (prism?.lens.columns ?? []).map((column, index) => ({
        id: `lens ${column.name}`,
        head: <span title={column.name}>{column.name}</span>,
        cell: ({ answers: all, error }) => answerCell(all, error, index, cellText(all?.[column.name] as Shaped, column, prism?.version.questions)),
        title: ({ answers: all, error }) => all ? String(all[column.name] ?? '') : (error ?? undefined),
        width: column.show === 'answer' ? 128 : 104,
        narrow: 96,
        grow: column.show === 'answer' ? 2 : 0.5,
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
    { id: 'time', head: 'Time', cell: ({ created_at }) => <Time at={created_at} />, title: ({ created_at }) => exactTime(created_at), width: 132, narrow: 122, rank: 0 },
    ...(ofOne ? [] : [{ id: 'prism', head: 'Prism', cell: ({ prism: slug, version }: Result) => <>{slug} <span className="soft">v{version}</span></>, width: 128, grow: 0.5, rank: 1 }]),
    { id: 'ref', head: 'Ref', cell: ({ ref }) => ref ?? <span className="soft">–</span>, title: ({ ref }) => ref ?? undefined, width: 112, grow: 0.5, rank: 2 },
    { id: 'status', head: 'Status', cell: ({ status }) => <Status status={status} />, width: 88, narrow: 76, rank: 0 },
    ...answers,
    ...(ofOne ? [{ id: 'version', head: 'Version', cell: ({ version }: Result) => version, width: 80, align: 'end' as const, rank: 4.5 }] : []),
    { id: 'took', head: 'Took', cell: ({ took_ms }) => duration(took_ms), title: ({ took_ms }) => `${took_ms} ms`, width: 88, align: 'end', rank: 2.5 },
  ];
}

/** A failed result says why in the first of its empty cells. */
function answerCell(answers: Result['answers'], error: string | null, index: number, text: string) {
  if (answers) return text;
  return <span className="soft">{index === 0 ? error : '–'}</span>;
}
