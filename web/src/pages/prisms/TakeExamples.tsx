import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, ask } from '@/api';
import { limits } from '@/api/limits';
import { tooFew } from '@/data/quality';
import { definitionOf, type Draft, type DraftExample, draftExamples, type Example, type Question } from '@/definitions/model';
import { Button, count, Dialog, ErrorNote, Input, Note, Select } from '@/design';
import { typedNumber } from '@/design/numbers';
import { kindOf } from '@/questions';

const usual = 12; // examples that are proposed
const mostSeed = 2_147_483_647;
const within = (n: number, least: number, most: number) => Number.isInteger(n) && n >= least && n <= most;

interface Props {
  prism: string;
  draft: Draft;
  onTake: (examples: DraftExample[]) => void;
  onClose: () => void;
}

/** Takes the examples of a draft from labels of its prism. What is taken is shown before it is used. */
export function TakeExamples({ prism, draft, onTake, onClose }: Props) {
  const { examples: before, ...definition } = definitionOf(draft);
  const [question, setQuestion] = useState(definition.questions[0]?.key ?? '');
  const [n, setN] = useState(String(usual));
  const [seed, setSeed] = useState('0');
  const wanted = { question, n: typedNumber(n), seed: typedNumber(seed) };
  const wrong = {
    n: within(wanted.n, 1, limits.examples.most) ? undefined : `A whole number from 1 to ${limits.examples.most}`,
    seed: within(wanted.seed, 0, mostSeed) ? undefined : 'A whole number from 0 up',
  };
  const take = useMutation({
    mutationFn: (examples_from_labels: typeof wanted) => ask(api.POST('/v1/prisms/{prism}/versions', {
      params: { path: { prism } }, body: { ...definition, dry_run: true, examples_from_labels },
    })),
  });
  const few = tooFew(take.error);
  const found = take.data?.examples ?? undefined;
  const same = take.variables !== undefined && JSON.stringify(take.variables) === JSON.stringify(wanted);
  const ready = found && same ? found : undefined;
  const words = count(ready?.length ?? 0, 'example');
  return (
    <Dialog open onClose={onClose} wide title="Take examples from labels"
      onSubmit={() => {
        if (wrong.n || wrong.seed) return;
        if (!ready) return take.mutate(wanted);
        onTake(draftExamples(ready));
        onClose();
      }}
      actions={<>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={take.isPending}>{ready ? `Use ${words}` : 'Show examples'}</Button>
      </>}>
      <div className="stack">
        <p>
          Labelled inputs of this prism become examples, one of each answer in turn, so that rare answers are shown as often as
          common ones. The version’s measures leave their inputs out.
        </p>
        <Select label="Labels of" value={question} onChange={(event) => setQuestion(event.target.value)}
          options={definition.questions.map(({ key, text }) => [key, text || key] as const)} />
        <div className="line two">
          <Input label="How many" inputMode="numeric" value={n} onChange={(event) => setN(event.target.value)}
            error={wrong.n} hint={`1 to ${limits.examples.most}.`} />
          <Input label="Seed" inputMode="numeric" value={seed} onChange={(event) => setSeed(event.target.value)}
            error={wrong.seed} hint="Another number takes other labels; the same one takes the same." />
        </div>
        {few ? (
          <Note tone="warn" action={
            <Link className="button small" to="/prisms/$prism/label" params={{ prism }} search={{ question }}>Label texts</Link>
          }>
            {few.have === 0 ? 'No input has' : `Only ${count(few.have, 'different input')} ${few.have === 1 ? 'has' : 'have'}`} a
            label that can be taken: of this question, with the same fields, and not of the sample “uncertain”.
            {few.have > 0 && ` Take ${few.have} at most, or label more.`}
          </Note>
        ) : <ErrorNote error={take.error} title="No examples were taken." />}
        {ready && <Taken examples={ready} draft={draft} questions={definition.questions} />}
        {ready && before && (
          <Note>They take the place of the {count(before.length, 'example')} that the version has now.</Note>
        )}
      </div>
    </Dialog>
  );
}

/** The text of each example, and what is right for it. */
function Taken({ examples, draft, questions }: { examples: Example[]; draft: Draft; questions: Question[] }) {
  return (
    <ol className="taken" aria-label="Examples that are taken">
      {examples.map(({ fields, answers, result_id }, i) => (
        <li key={result_id ?? i}>
          <p className="taken-text">{draft.fields.map(({ key }) => fields[key]).filter(Boolean).join(' · ')}</p>
          <p className="soft">{questions.filter(({ key }) => answers[key] !== undefined).map((q) => {
            const label = answers[q.key]!;
            const each = Array.isArray(label) ? label : [label];
            const values = kindOf(q).values(q);
            const words = each.map((one) => values.find(({ value }) => value === one)?.label ?? String(one));
            return `${q.text} ${words.join(', ') || 'None'}`;
          }).join(' · ')}</p>
        </li>
      ))}
    </ol>
  );
}
