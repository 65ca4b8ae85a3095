import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Answers, LensRow } from '@/answers/Answers';
import { Escalated } from '@/answers/Escalated';
import type { Schemas } from '@/api';
import type { LensAnswers, RawAnswers } from '@/data/prisms';
import type { LensColumn, Question } from '@/definitions/model';
import { Button, Code, Copy, duration, Facts, Icon, money, Note, Num, Section, Status } from '@/design';

interface Shown {
  id?: string;
  status: 'ok' | 'failed';
  error: string | null;
  took_ms: number;
  answers: RawAnswers | null;
}

/** The outcome of a call: its answers and what they took, or why there are none. */
export function Outcome({ result, lens, record, questions, columns, onRetry, retrying, note }: {
  result: Shown; lens: LensAnswers | null; record: Pick<Schemas['Record'], 'model' | 'usage'> & Partial<Schemas['Record']>;
  questions: Question[]; columns: LensColumn[]; onRetry?: (() => void) | undefined; retrying?: boolean; note?: ReactNode;
}) {
  const tokens = record.usage;
  return (
    <div className="stack">
      {result.status === 'failed' && (
        <div className="note bad" role="alert">
          <Icon name="bad" />
          <div className="grow">
            <strong>The model gave no usable answer.</strong> {result.error}
            {record.error_code && <> <code>{record.error_code}</code></>}
            {record.retried_by && <p>It was retried as <code>{record.retried_by}</code>.</p>}
          </div>
          {onRetry && !record.retried_by && <Button small icon="retry" busy={retrying ?? false} onClick={onRetry}>Retry</Button>}
        </div>
      )}
      {note}
      {result.answers && (
        <Section title="Answers"><Answers questions={questions} answers={result.answers} columns={columns} /></Section>
      )}
      {lens && (
        <Section title="As calls return it (Lens)">
          <LensRow answers={lens} columns={columns} questions={questions} />
        </Section>
      )}
      <Section title="Call">
        <Facts items={[
          ['Status', <Status key="" status={result.status} />],
          ...(result.id ? [['Result', <span key="" className="row">
            <Link to="/results/$result" params={{ result: result.id }}><code>{result.id}</code></Link>
            <Copy text={result.id} label="Copy result id" />
          </span>] as [string, ReactNode]] : []),
          ['Took', <span key="" className="num" title={`${result.took_ms} ms`}>{duration(result.took_ms)}</span>],
          ...(record.version ? [['Version', record.version] as [string, ReactNode]] : []),
          ['Model', record.model ? <>
            {record.model.name ?? '–'}
            {record.model.model && <span className="soft"> {record.model.model}</span>}
            {record.model.fell_back && ', as a fallback'}
          </> : '–'],
          ...(record.escalation
            ? [['Second model', <Escalated key="" escalation={record.escalation} />] as [string, ReactNode]] : []),
          ['Tokens', tokens && tokens.input_tokens !== null
            ? <><Num value={tokens.input_tokens} /> read, <Num value={tokens.output_tokens} /> written</>
            : <span key="" className="soft">not known</span>],
          ['Cost', tokens?.cost != null
            ? <span key="" className="num" title={String(tokens.cost)}>{money(tokens.cost, tokens.currency)}</span>
            : <span key="" className="soft">the model has no price</span>],
        ]} />
      </Section>
      {record.id
        ? <details className="more">
          <summary>Record</summary>
          <Code text={JSON.stringify(record, null, 2)} label="Copy record" />
        </details>
        : <Note>Nothing was saved. The call counts in Usage.</Note>}
    </div>
  );
}
