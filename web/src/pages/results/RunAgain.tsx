import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { api, ApiError, ask, type Schemas } from '@/api';
import { shellWord } from '@/commands/commands';
import { versionsQuery } from '@/data/prisms';
import type { Listed } from '@/data/results';
import { told } from '@/data/runs';
import { Button, Code, count, Dialog, ErrorNote, Facts, money, Note, Select, shown, Skeleton } from '@/design';
import { againOf, againProblem } from './many';
import { beyondRetry, type ResultsSearch } from './search';

type Which = Schemas['ResultsOfRun'];

const most = 1000; // ids of one call

/** Answers the selected results again, which are of one prism. */
export function RunChosenAgain({ results, onClose }: { results: Listed[]; onClose: () => void }) {
  const [prism, another] = new Set(results.map((one) => one.prism));
  if (prism === undefined || another !== undefined || results.length > most) {
    return (
      <NotAgain onClose={onClose}>
        {results.length > most
          ? 'At most 1,000 selected rows can be run again. Narrow them by filters, and select all that match.'
          : 'A run is of one prism. Select results of one.'}
      </NotAgain>
    );
  }
  return <Again prism={prism} which={{ ids: results.map(({ id }) => id) }} onClose={onClose} />;
}

/** Answers every result that matches again. */
export function RunManyAgain({ search, onClose }: { search: ResultsSearch; onClose: () => void }) {
  const beyond = beyondRetry(search);
  if (search.prism !== undefined && beyond.length === 0) {
    return <Again prism={search.prism} which={againOf(search)} onClose={onClose} />;
  }
  return (
    <NotAgain onClose={onClose}>
      {search.prism === undefined ? 'A run is of one prism. Choose a prism in the filters first.'
        : `Clear these filters first (${beyond.join(', ')}), or select rows and run those again.`}
    </NotAgain>
  );
}

function NotAgain({ children, onClose }: { children: string; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Run again" actions={<Button onClick={onClose}>Close</Button>}><p>{children}</p></Dialog>
  );
}

/** Asks for the version, says how many there are and what they take, and starts the run. */
function Again({ prism, which, onClose }: { prism: string; which: Which; onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const versions = useQuery(versionsQuery(prism));
  const latest = versions.data?.reduce((most, { version }) => Math.max(most, version), 0);
  const [chosen, setChosen] = useState<number>();
  const version = chosen ?? latest;
  const once = useRef(crypto.randomUUID()); // a start whose response was lost is no second run
  const params = { path: { prism } };
  const counted = useQuery({
    queryKey: ['results', 'again', prism, which, version],
    queryFn: ({ signal }) => ask(api.POST('/v1/prisms/{prism}/runs', {
      params, body: { from_results: which, version: version!, dry_run: true }, signal,
    })) as Promise<unknown> as Promise<Schemas['DryRun']>,
    enabled: version !== undefined, staleTime: 0, gcTime: 0, retry: false, placeholderData: undefined,
  });
  const start = useMutation({
    mutationFn: () => ask(api.POST('/v1/prisms/{prism}/runs', {
      params, body: {
        from_results: which, version: version!, name: `Again with version ${version}`,
        idempotency_key: `${once.current}-${version}`,
      },
    })) as Promise<unknown> as Promise<Schemas['Run']>,
    onSuccess: (run) => {
      told(client, run);
      void client.invalidateQueries({ queryKey: ['runs', 'list'] });
      onClose();
      void navigate({ to: '/runs/$run', params: { run: run.id } });
    },
  });
  const dry = counted.data;
  const n = dry?.rows ?? which.ids?.length;
  const error = start.error ?? counted.error;
  const problem = error instanceof ApiError && version !== undefined ? againProblem(error, version) : undefined;
  return (
    <Dialog open onClose={onClose} onSubmit={() => { if (dry && !start.isPending) start.mutate(); }}
      title={n === undefined ? 'Run again' : `Run ${count(n, 'result')} of ${prism} again?`} actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" icon="play" disabled={!dry} busy={start.isPending}>
            {n === undefined ? 'Start the run' : `Run ${count(n, 'result')} again`}
          </Button>
        </>
      }>
      <div className="stack">
        <p>A new run answers the same texts with the version that you choose. These results stay as they are.</p>
        <ErrorNote error={versions.error} title="The versions could not be read." onRetry={() => void versions.refetch()} />
        {version !== undefined && (
          <Select label="Version" value={String(version)} disabled={start.isPending}
            options={versions.data!.map((one): [string, string] => [
              String(one.version), one.version === latest ? `${one.version}, the latest` : String(one.version)])}
            onChange={({ target }) => { setChosen(Number(target.value)); start.reset(); }} />
        )}
        {dry ? (
          <div role="status">
            <Facts items={[
              ['Calls of the model', <span key="" className="num">{shown(dry.model_calls)}</span>],
              ['Tokens, about', <span key="" className="num">{shown(dry.tokens)}</span>],
              ['Cost, about', dry.cost === null ? <span key="" className="soft">no price is configured</span>
                : <span key="" className="num">{money(dry.cost, dry.currency)}</span>],
            ]} />
          </div>
        ) : !error && !versions.error && <Skeleton lines={3} />}
        {dry && dry.invalid_total > 0 && (
          <Note tone="warn">
            {count(dry.invalid_total, 'text')} would be refused by this version, and {dry.invalid_total === 1 ? 'is' : 'are'} not
            sent.
          </Note>
        )}
        {problem ? <Note tone="bad">{problem}</Note>
          : <ErrorNote error={error} title={start.error ? 'No run was started.' : 'They could not be counted.'}
            onRetry={start.error ? undefined : () => void counted.refetch()} />}
        {!which.ids && version !== undefined && (
          <Code label="Copy command" text={
            `prismctl runs create --from-results --prism ${shellWord(prism)}${flagsOf(which)} --version ${version} --watch`
          } />
        )}
      </div>
    </Dialog>
  );
}

const flagsOf = ({ status, version, from, to, q, where }: Which) =>
  Object.entries({ status, 'of-version': version, from, to, q, where })
    .flatMap(([name, value]) => [value].flat().map((one) => (one == null ? '' : ` --${name} ${shellWord(String(one))}`)))
    .join('');
