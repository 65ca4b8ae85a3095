import { Link, type LinkProps, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import './page.css';

interface PageProps {
  title: ReactNode;
  name?: string;
  lead?: ReactNode;
  actions?: ReactNode;
  tabs?: ReactNode;
  children: ReactNode;
}

/** The heading of a page and its body. `name` is the document's title where the heading is no text. */
export function Page({ title, name, lead, actions, tabs, children }: PageProps) {
  const text = name ?? (typeof title === 'string' ? title : '');
  useEffect(() => {
    document.title = text ? `${text} · Prism` : 'Prism';
  }, [text]);
  return (
    <div className="page">
      <header className={tabs ? 'page-head tabbed' : 'page-head'}>
        <div className="grow">
          <h1>{title}</h1>
          {lead && <p className="soft">{lead}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
        {tabs}
      </header>
      {children}
    </div>
  );
}

/** A part of a page under a heading of its own. */
export function Section({ title, actions, children }: { title: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="section">
      <header className="section-head"><h2 className="grow">{title}</h2>{actions}</header>
      {children}
    </section>
  );
}

/**
 * Links that look like tabs, so that each has its URL:
 * `<Tabs label="Prism" tabs={[{ label: 'Try', to: '/prisms/$prism', params }]} />`. `current` says which one is shown, where the
 * path alone does not.
 */
export function Tabs({ label, tabs }: { label: string; tabs: (LinkProps & { label: ReactNode; current?: boolean })[] }) {
  const ref = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.location.href });
  useEffect(() => {
    // On a phone the tabs scroll: the one that is shown is in view.
    const nav = ref.current!;
    const show = () => {
      const tab = nav.querySelector<HTMLElement>('.active');
      if (tab && nav.scrollWidth > nav.clientWidth) {
        nav.scrollLeft = tab.offsetLeft - nav.offsetLeft - (nav.clientWidth - tab.offsetWidth) / 2;
      }
      mark(nav);
    };
    show();
    let width = innerWidth;
    const resized = () => {
      if (innerWidth === width) return mark(nav); // the bars of a phone's browser come and go
      width = innerWidth;
      show();
    };
    addEventListener('resize', resized);
    return () => removeEventListener('resize', resized);
  }, [path]);
  return (
    <nav ref={ref} className="tabs" aria-label={label} onScroll={(event) => mark(event.currentTarget)}>
      {tabs.map(({ label: words, current, ...link }, index) => (
        current === undefined
          ? <Link key={index} {...link}>{words}</Link>
          : (
            <Link key={index} {...link} activeProps={{}} activeOptions={{ exact: true, explicitUndefined: true }}
              className={current ? 'active' : ''} aria-current={current ? 'page' : undefined}>{words}</Link>
          )
      ))}
    </nav>
  );
}

/** Says at which ends of its window there is more to scroll to. */
function mark(nav: HTMLElement) {
  nav.toggleAttribute('data-before', nav.scrollLeft > 1);
  nav.toggleAttribute('data-after', nav.scrollLeft + nav.clientWidth < nav.scrollWidth - 1);
}

/** Filters above a list, in one row that wraps. */
export function Toolbar({ label, children }: { label: string; children: ReactNode }) {
  return <div className="toolbar" role="group" aria-label={label}>{children}</div>;
}
