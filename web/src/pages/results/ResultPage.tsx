import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useResult } from '@/data/results';
import { Page, Status, Time } from '@/design';
import { isNowhere, NotFound } from '@/shell/Failed';
import { ResultActions } from './ResultActions';
import { ResultView } from './ResultView';

const route = getRouteApi('/frame/results/$result');

/** One result on a page of its own. */
export function ResultPage() {
  const { result: id } = route.useParams();
  const navigate = useNavigate();
  const { data, error, isPlaceholderData } = useResult(id);
  const shaped = isPlaceholderData ? undefined : data?.shaped;
  if (isNowhere(error) && !shaped) return <NotFound />;
  return (
    <Page title={shaped?.ref ? `Result ${shaped.ref}` : 'Result'} name={`Result ${shaped?.ref ?? id}`} lead={
      shaped
        ? <span className="row">
          <Status status={shaped.status} />
          <span><Link to="/results" search={{ prism: shaped.prism }}>{shaped.prism}</Link> version {shaped.version}</span>
          <Time at={shaped.created_at} />
        </span>
        : <span className="mono">{id}</span>
    }>
      <ResultActions id={id} onRetried={(made) => void navigate({ to: '/results/$result', params: { result: made } })}
        onDeleted={() => navigate({ to: '/results' })} />
      <ResultView key={id} id={id} wide />
    </Page>
  );
}
