import type { Schemas } from '@/api';

/** Which model was asked second, why, and whether its answers are the result. */
export function Escalated({ escalation: { questions, error_code, first, second } }: { escalation: Schemas['Escalation'] }) {
  const why = `the first answers to ${questions.join(', ')} were in doubt`;
  return error_code === null
    ? <>{second.name} in place of {first.name}: {why}</>
    : <>{second.name} gave no answers, <code>{error_code}</code>, though {why}</>;
}
