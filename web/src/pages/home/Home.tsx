import { useSession } from '@/api';
import { Page } from '@/design';

export function Home() {
  const { account } = useSession();
  return <Page title="Home" lead={account?.name}>{null}</Page>;
}
