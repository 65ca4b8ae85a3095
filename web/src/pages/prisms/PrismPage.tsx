import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Outlet, useRouterState } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useCan } from '@/api';
import { prismQuery } from '@/data/prisms';
import { ButtonLink, Copy, ErrorNote, Note, Page, type Shape, Skeleton, Status, Tabs } from '@/design';
import { useActions } from '@/shell/actions';
import { isNowhere, NotFound } from '@/shell/Failed';
import { DriftLine } from '../quality/DriftLine';
import './prisms.css';

const route = getRouteApi('/frame/prisms/$prism');

const places = [
  { label: 'Overview', to: '/prisms/$prism', words: 'answers accuracy drift unsure', exact: true },
  { label: 'Try', to: '/prisms/$prism/try', words: 'call answer', right: 'call' },
  { label: 'Edit', to: '/prisms/$prism/edit', words: 'questions options definition version', right: 'edit' },
  { label: 'Lens', to: '/prisms/$prism/lens', words: 'columns', right: 'edit' },
  { label: 'Results', to: '/prisms/$prism/results', words: 'answers' },
  { label: 'Runs', to: '/prisms/$prism/runs', words: 'files' },
  { label: 'Quality', to: '/prisms/$prism/quality', words: 'labels reliability calibration thresholds accuracy compare' },
  { label: 'Label', to: '/prisms/$prism/label', words: 'annotate', right: 'label' },
  { label: 'Settings', to: '/prisms/$prism/settings', words: 'archive retention searchable name versions', right: 'edit' },
] as const;

/** What stands in for a tab until the prism is there. */
const shapes: Record<string, Shape> = {
  try: 'form', edit: 'form', lens: 'results', results: 'results', runs: 'table', quality: 'bars',
};

export function PrismPage(): ReactNode {
  const { prism: name } = route.useParams();
  const navigate = route.useNavigate();
  const settings = useRouterState({ select: ({ location }) => location.pathname.endsWith('/settings') });
  const overview = useRouterState({ select: ({ location }) => /\/prisms\/[^/]+\/?$/.test(location.pathname) });
  const shape = useRouterState({ select: ({ location }) => shapes[location.pathname.split('/').at(-1)!] ?? 'text' });
  const { data, error, refetch } = useQuery(prismQuery(name));
  const may = { call: useCan('call'), edit: useCan('edit'), label: useCan('label') };
  const tabs = places.filter((place) => !('right' in place) || may[place.right]);
  useActions(tabs.map(({ label, to, words }) => ({
    id: `tab ${label}`, group: name, label, words, run: () => void navigate({ to, params: { prism: name } }),
  })));
  if (isNowhere(error) && !data) return <NotFound />;
  const prism = data?.prism;
  const title = prism?.name ?? prism?.slug ?? name;
  return (
    <Page title={<span className="row">{title}{prism?.archived_at && <Status status="archived" />}</span>} name={title}
      lead={
        <span className="row prism-lead">
          <code>{prism?.slug ?? name}</code>
          <Copy text={prism?.slug ?? name} label="Copy slug" />
          {prism && <span>Version {prism.latest_version}</span>}
          {prism && <DriftLine prism={prism} />}
        </span>
      }
      tabs={<Tabs label="Prism" tabs={tabs.map((tab) => ({
        label: tab.label, to: tab.to, params: { prism: name }, activeOptions: { exact: 'exact' in tab, includeSearch: false },
      }))} />}
      actions={overview && may.call && prism && !prism.archived_at && (
        <>
          <ButtonLink to="/runs/new" search={{ prism: name }} icon="upload">Upload a file</ButtonLink>
          <ButtonLink to="/prisms/$prism/try" params={{ prism: name }} variant="primary" icon="play">Try a text</ButtonLink>
        </>
      )}>
      <ErrorNote error={error} title="The prism could not be loaded." onRetry={() => void refetch()} />
      {prism?.archived_at && (
        <Note tone="warn">
          This prism is archived: it takes no calls and no changes. Its results stay
          readable.{settings ? '' : ' Unarchive it in Settings.'}
        </Note>
      )}
      {data ? <Outlet /> : !error && (overview
        ? <><Skeleton shape="stats" lines={5} /><Skeleton shape="chart" /></> : <Skeleton shape={shape} lines={8} />)}
    </Page>
  );
}
