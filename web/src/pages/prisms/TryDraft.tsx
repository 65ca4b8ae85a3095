import { useMutation } from '@tanstack/react-query';
import { ApiError } from '@/api';
import { tryDefinition } from '@/data/prisms';
import { derived } from '@/definitions/lens';
import { definitionOf, type Draft, type LensColumn } from '@/definitions/model';
import { problemsByPath } from '@/definitions/problems';
import { ErrorNote, Note, Panel } from '@/design';
import { Outcome } from './Outcome';
import { TryForm, type Typed, valuesOf } from './TryForm';

interface Props {
  draft: Draft;
  typed: Typed;
  onType: (typed: Typed) => void;
  lens?: LensColumn[] | undefined;
  broken: boolean;
  onClose: () => void;
}

/** Asks the model the questions of an unsaved definition. Nothing is stored. */
export function TryDraft({ draft, typed, onType, lens, broken, onClose }: Props) {
  const definition = definitionOf(draft);
  const send = useMutation({
    // The definition is kept with the answer: it may be edited while the answer is read.
    mutationFn: async () => ({ definition, tried: await tryDefinition({
      definition, fields: valuesOf(typed, definition.fields), ...(lens && { lens: { columns: lens } }),
      ...(typed.context && { context: typed.context }) }) }),
  });
  const problems = send.error instanceof ApiError ? problemsByPath(send.error.problems) : undefined;
  return (
    <Panel title="Try unsaved changes" onClose={onClose}>
      <TryForm fields={definition.fields} typed={typed} onType={onType} onSend={() => send.mutate()} busy={send.isPending}
        verb="Ask the model"
        reason={broken ? 'First mend the problems of the definition.' : undefined} problems={problems} />
      <div className="stack" aria-live="polite">
        <ErrorNote error={send.error} title="The call failed." onRetry={() => send.mutate()} />
        {send.data ? (
          <Outcome result={{ ...send.data.tried, answers: send.data.tried.raw }} lens={send.data.tried.json}
            columns={lens ?? derived(send.data.definition.questions)}
            record={{
              model: send.data.tried.model, usage: send.data.tried.usage, escalation: send.data.tried.escalation,
              error_code: send.data.tried.error_code as null,
            }} questions={send.data.definition.questions}
            onRetry={() => send.mutate()} retrying={send.isPending} />
        ) : (
          <Note>
            Beside each question is its answer to this text, asked again after each edit. Nothing is stored by a try of unsaved
            changes. It counts in Usage.
          </Note>
        )}
      </div>
    </Panel>
  );
}
