import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useState } from 'react';
import { OneAnswer } from '@/answers/Answers';
import { useDraft } from '@/data/drafts';
import { type RawAnswers, tryDefinition } from '@/data/prisms';
import type { Definition, LensColumn, Question } from '@/definitions/model';
import { Button } from '@/design';
import { isFilled, type Typed, valuesOf } from './TryForm';
import { useSettled } from './useProblems';

const pause = 700; // ms without an edit before the model is asked

interface Live {
  /** There is a text to try, and the reader has not hidden its answers. */
  shown: boolean;
  answers?: RawAnswers | undefined;
  /** The questions as they were asked. */
  questions: Question[];
  columns: LensColumn[];
  /** The answers are those of an earlier text or definition. */
  stale: boolean;
  /** Newer ones are asked for. */
  busy: boolean;
  /** Shows or hides the answers; undefined without a text to try. */
  toggle?: () => void;
}

const none: Live = { shown: false, questions: [], columns: [], stale: false, busy: false };
const Context = createContext<Live>(none);
export const useLive = (): Live => useContext(Context);

interface Props {
  typed: Typed;
  definition: Definition;
  columns: LensColumn[];
  /** The reader edits or tries. Before the first of it, a text that was typed at another time asks nothing. */
  active: boolean;
  /** The definition has no problem that is known. */
  sound: boolean;
  children: ReactNode;
}

/**
 * Asks the model the questions below about the text to try, once edits pause. The last edit wins: an answer to an earlier one
 * that comes later is dropped. An error is quiet, since the next edit asks again: older answers stay, dimmed.
 */
export function LiveAnswers({ typed, definition, columns, active, sound, children }: Props) {
  const [hidden, setHidden] = useDraft<boolean>('live.hidden');
  const [begun, setBegun] = useState(active);
  if (active && !begun) setBegun(true);
  const fields = valuesOf(typed, definition.fields);
  const filled = isFilled(typed, definition.fields);
  const body = { definition, fields, ...(typed.context && { context: typed.context }) };
  const now = JSON.stringify(body);
  const settled = useSettled(now, pause);
  const wanted = begun && sound && filled && !hidden;
  const { data, isFetching } = useQuery({
    queryKey: ['live answers', settled],
    queryFn: async ({ signal }) => ({ text: settled, questions: definition.questions, ...await tryDefinition(body, signal) }),
    enabled: wanted && settled === now,
    placeholderData: undefined,
    staleTime: Infinity, // an edit that is taken back has its answer already
    retry: false,
  });
  const [last, setLast] = useState(data);
  if (data?.raw && data !== last) setLast(data);
  const live = !filled || !begun ? none : {
    shown: !hidden, answers: last?.raw ?? undefined, questions: last?.questions ?? [], columns, stale: last?.text !== now,
    busy: wanted && (settled !== now || isFetching),
    toggle: () => setHidden(hidden ? undefined : true),
  };
  return <Context value={live}>{children}</Context>;
}

/** Hides the answers, so that no edit asks for them, and shows them again. */
export function LiveSwitch() {
  const { shown, toggle } = useLive();
  return toggle && (
    <Button small variant="quiet" aria-pressed={shown} onClick={toggle}>{shown ? 'Hide answers' : 'Show answers'}</Button>
  );
}

/** The answer to the question with this key. */
export function LiveAnswer({ of: key, text }: { of: string; text: string }) {
  const { shown, answers, questions, columns, stale, busy } = useLive();
  const [question, answer] = [questions.find((one) => one.key === key), answers?.[key]];
  if (!shown) return null;
  return (
    <div className={`question-live${stale ? ' stale' : ''}`} role="group" aria-label={`Answer to your text: ${text}`}
      aria-busy={busy}>
      {question && answer ? <OneAnswer question={question} answer={answer} columns={columns} />
        : <p className="soft">Its answer will be here.</p>}
    </div>
  );
}
