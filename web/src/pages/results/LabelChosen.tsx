import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { titleOf } from '@/answers/words';
import { api, ask } from '@/api';
import { type Listed, usePrism } from '@/data/results';
import { Button, Checkbox, count, Dialog, ErrorNote, Note, Pick, Select, Skeleton, toast } from '@/design';
import { kindOf, type LabelValue } from '@/questions';
import { choicesOf, sought, toggled } from '@/questions/choices';
import { Values } from './Values';

/** The options that are chosen among any number of them, or that none is right, which no option says. */
interface Picked {
  keys: string[];
  none: boolean;
}

/** Says what was right for each of the selected results, for one question. Of one result it begins with the label that it has. */
export function LabelChosen({ results, onClose, onDone }: { results: Listed[]; onClose: () => void; onDone: () => void }) {
  const client = useQueryClient();
  const slugs = new Set(results.map(({ prism }) => prism));
  const slug = slugs.size === 1 ? [...slugs][0] : undefined;
  const { data: prism } = usePrism(slug);
  const questions = prism?.version.questions ?? [];
  const [key, setKey] = useState('');
  const [chosen, setAt] = useState<string>();
  const [picked, setPicked] = useState<Picked>();
  const question = questions.find((one) => one.key === key) ?? questions[0];
  const choices = question ? choicesOf(question) : [];
  const options = [['', 'What is right …'], ...choices.map(({ label }, i) => [String(i), label])] as [string, string][];
  const answered = results.filter(({ status }) => status === 'ok');
  const labels = useLabels(answered.length === 1 ? answered[0]!.id : undefined);
  const stored = question && labels.data?.[question.key]?.value;
  const now = choices.findIndex((choice) => choice.value === stored);
  const at = chosen ?? (now < 0 ? '' : String(now));
  const several = question !== undefined && kindOf(question).several !== undefined;
  const before: Picked = Array.isArray(stored) ? { keys: stored, none: stored.length === 0 } : { keys: [], none: false };
  const list = picked ?? before;
  const listed = list.none || list.keys.length > 0 ? list.keys : undefined;
  const value: LabelValue | undefined = several ? listed : at === '' ? undefined : choices[Number(at)]?.value;
  const save = useMutation({
    mutationFn: () => ask(api.POST('/v1/prisms/{prism}/labels', {
      params: { path: { prism: slug! } },
      body: { labels: answered.map(({ id }) => ({ result_id: id, question: question!.key, value: value! })) },
    })),
    onSuccess: ({ labelled }) => {
      for (const queryKey of [['results', 'counts'], ['results', 'one'], ['quality', slug]]) {
        void client.invalidateQueries({ queryKey });
      }
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
      : !question || labels.isLoading ? <Skeleton lines={3} /> : (
        <div className="stack">
          {answered.length < results.length && <p>Failed results have no answer to label, and are left out.</p>}
          {questions.length > 1 && (
            <Select label="Question" value={question.key} options={questions.map((one) => [one.key, titleOf(one.key)])}
              onChange={({ target }) => { setKey(target.value); setAt(undefined); setPicked(undefined); }} />
          )}
          {several ? (
            <>
              <Values legend={question.text} values={choices.map(({ value: key, label }) => ({ value: String(key), label }))}
                chosen={list.keys}
                onPress={(option) => setPicked({ keys: toggled(question, list.keys, option), none: false })} />
              <Checkbox label="None of these" checked={list.none}
                onChange={({ target }) => setPicked({ keys: [], none: target.checked })} />
            </>
          ) : sought(choices)
            ? <Pick label={question.text} value={at} onChange={setAt} options={options} />
            : <Select label={question.text} value={at} onChange={({ target }) => setAt(target.value)} options={options} />}
          <ErrorNote error={labels.error} title="The label that it has could not be read." />
          {missed ? <Note tone="warn">{count(missed, 'result was', 'results were')} not labelled.</Note> : null}
          <ErrorNote error={save.error} title="Nothing was labelled." />
        </div>
      )}
    </Dialog>
  );
}

/** The labels that a result has now, by question. */
const useLabels = (id: string | undefined) => useQuery({
  queryKey: ['results', 'one', id, 'labels'],
  queryFn: async ({ signal }) =>
    (await ask(api.GET('/v1/results/{result_id}/labels', { params: { path: { result_id: id! } }, signal }))).labels,
  enabled: id !== undefined, gcTime: 0, placeholderData: undefined,
});
