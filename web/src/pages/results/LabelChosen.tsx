import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { titleOf } from '@/answers/words';
import { api, ask } from '@/api';
import { Button, count, Dialog, ErrorNote, Note, Pick, Select, Skeleton, toast } from '@/design';
import { choicesOf, sought } from '../quality/labelling';
import { type Listed, usePrism } from './data';

/** Says what was right for each of the selected results, for one question. */
export function LabelChosen({ results, onClose, onDone }: { results: Listed[]; onClose: () => void; onDone: () => void }) {
  const client = useQueryClient();
  const slugs = new Set(results.map(({ prism }) => prism));
  const slug = slugs.size === 1 ? [...slugs][0] : undefined;
  const { data: prism } = usePrism(slug);
  const questions = prism?.version.questions ?? [];
  const [key, setKey] = useState('');
  const [at, setAt] = useState('');
  const question = questions.find((one) => one.key === key) ?? questions[0];
  const choices = question ? choicesOf(question) : [];
  const options = [['', 'What is right …'], ...choices.map(({ label }, i) => [String(i), label])] as [string, string][];
  const value = at === '' ? undefined : choices[Number(at)]?.value;
  const answered = results.filter(({ status }) => status === 'ok');
  const save = useMutation({
    mutationFn: () => ask(api.POST('/v1/prisms/{prism}/labels', {
      params: { path: { prism: slug! } },
      body: { labels: answered.map(({ id }) => ({ result_id: id, question: question!.key, value: value! })) },
    })),
    onSuccess: ({ labelled }) => {
      for (const queryKey of [['results', 'counts'], ['quality', slug]]) void client.invalidateQueries({ queryKey });
      toast(`${count(labelled, 'label')} saved.`);
      if (labelled === answered.length) { onDone(); onClose(); }
    },
  });
  const missed = save.data && answered.length - save.data.labelled;
  return (
    <Dialog open onClose={onClose} title={`Label ${count(answered.length, 'result')}`} onSubmit={() => {
      if (value !== undefined && answered.length) save.mutate();
    }} actions={
      <>
        <Button onClick={onClose}>{missed ? 'Close' : 'Cancel'}</Button>
        <Button type="submit" variant="primary" busy={save.isPending} disabled={value === undefined || answered.length === 0}>
          Label {count(answered.length, 'result')}
        </Button>
      </>
    }>
      {slug === undefined ? <p>Select results of one prism, since each has questions of its own.</p>
      : !question ? <Skeleton lines={3} /> : (
        <div className="stack">
          {answered.length < results.length && <p>Failed results have no answer to label, and are left out.</p>}
          {questions.length > 1 && (
            <Select label="Question" value={question.key} options={questions.map((one) => [one.key, titleOf(one.key)])}
              onChange={({ target }) => { setKey(target.value); setAt(''); }} />
          )}
          {sought(choices)
            ? <Pick label={question.text} value={at} onChange={setAt} options={options} />
            : <Select label={question.text} value={at} onChange={({ target }) => setAt(target.value)} options={options} />}
          {missed ? <Note tone="warn">{count(missed, 'result was', 'results were')} not labelled.</Note> : null}
          <ErrorNote error={save.error} title="Nothing was labelled." />
        </div>
      )}
    </Dialog>
  );
}
