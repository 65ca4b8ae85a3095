import { Link, useSearch } from '@tanstack/react-router';
import { useSession } from '@/api';
import { Code, Section } from '@/design';
import { type Commands, type Way, ways } from './commands';

/** The call whose response a page shows, in the language that its address has as `as`; none for labellers, who label by hand. */
export function SameCall({ commands }: { commands: Commands }) {
  const { as = 'curl' } = useSearch({ strict: false }) as { as?: Way };
  const labeller = useSession().account?.member.role === 'labeller';
  if (labeller) return null;
  return (
    <Section title="The same call">
      <nav className="choices" aria-label="Language of the call">
        {(Object.keys(ways) as Way[]).map((way) => (
          <Link key={way} to="." search={(before: object) => ({ ...before, as: way === 'curl' ? undefined : way }) as never}
            replace resetScroll={false} className={as === way ? 'chosen-one' : undefined}>
            {ways[way]}
            {as === way && <span className="unseen"> (shown)</span>}
          </Link>
        ))}
      </nav>
      <Code label="Copy the call" text={commands[as]} />
    </Section>
  );
}
