import { type Bounds, labelOf, type LensColumn, type Question, type Shaped } from '@/answers/words';
import { percent, shown } from '@/design/numbers';
import { choice } from './choice';
import type { Answer, Kind, LabelValue, QuestionType } from './kind';
import { scale } from './scale';
import { tags } from './tags';
import { yesNo } from './yesNo';

export type { Answer, Drawn, Kind, LabelValue, QuestionType, Show, Value } from './kind';
export { othersKey } from './kind';
export { keysIn } from './tags';

const byType: { [T in QuestionType]: Kind<Extract<Question, { type: T }>, Extract<Answer, { type: T }>> } = {
  choice, yes_no: yesNo, scale, tags,
};

/** Every type of questions, in the order in which an editor offers them. */
export const kinds = Object.values(byType) as unknown as Kind[];

/** What is particular to the type of a question or answer. */
export const kindOf = ({ type }: { type: QuestionType }): Kind => byType[type] as unknown as Kind;

/** The thresholds of a question: those of the first Lens column that shows its answer by the stored probability. */
export function thresholds({ key, type }: { key: string; type: QuestionType }, columns: LensColumn[]): Bounds {
  const column = columns.find((one) => one.question === key && one.show === 'answer' && !one.calibrated);
  const { yes_at, no_at } = kindOf({ type }).bounds;
  return { no: column?.no_at ?? no_at?.usual ?? 0, yes: column?.yes_at ?? yes_at?.usual ?? 1 };
}

/** A cell of a Lens column as people read it. */
export function cellText(value: Shaped | undefined, column: LensColumn | undefined, questions: Question[] | undefined): string {
  if (value == null) return '–';
  if (typeof value === 'number') {
    return column?.show === 'probability' || column?.show === 'confidence' ? percent(value) : shown(value);
  }
  const question = column?.show === 'answer' ? questions?.find(({ key }) => key === column.question) : undefined;
  return question ? kindOf(question).cell(value, question) : value;
}

/** A label as people read it. */
export function labelText(value: LabelValue, question: Question | undefined): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value !== 'string') return value.map((key) => labelOf(question, key)).join(', ') || 'None';
  return question ? kindOf(question).label(value, question) : value;
}
