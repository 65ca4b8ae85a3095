import { getRouteApi } from '@tanstack/react-router';
import { type Commands, type Way, ways } from '@/commands/commands';
import { Code, Section } from '@/design';

const route = getRouteApi('/frame/prisms/$prism/quality');

/** The call whose response is shown, in each language. */
export function SameCall({ commands }: { commands: Commands }) {
  const { as } = route.useSearch();
  return (
    <Section title="The same call">
      <nav className="choices" aria-label="Language of the call">
        {(Object.keys(ways) as Way[]).map((way) => (
          <route.Link key={way} to="." search={(before) => ({ ...before, as: way === 'curl' ? undefined : way })} replace resetScroll={false}
            className={(as ?? 'curl') === way ? 'chosen-one' : undefined}>{ways[way]}{(as ?? 'curl') === way && <span className="unseen"> (shown)</span>}</route.Link>
        ))}
      </nav>
      <Code label="Copy the call" text={commands[as ?? 'curl']} />
    </Section>
  );
}
