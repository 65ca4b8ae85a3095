import { Fragment, useEffect, useState } from 'react';
import { type Reference, slug } from './document';
import { Verb } from './OperationArticle';

/** Links to every part of the page; that of the part which is read is marked. */
export function Contents({ reference: { chapters, groups, schemas }, onGo }: { reference: Reference; onGo?: () => void }) {
  const current = useCurrent();
  const link = (id: string, children: React.ReactNode) => (
    <a href={`#${id}`} aria-current={id === current || undefined} onClick={onGo}>{children}</a>
  );
  return (
    <nav aria-label="Contents" className="contents">
      <h2>Guide</h2>
      <ul className="plain">{chapters.map(({ name }) => <li key={name}>{link(slug(name), name)}</li>)}</ul>
      {groups.map(({ name, operations }) => (
        <Fragment key={name}>
          <h2>{link(slug(name), name)}</h2>
          <ul className="plain">{operations.map(({ id, method, summary }) => (
            <li key={id}>{link(id, <><Verb method={method} /><span>{summary}</span></>)}</li>
          ))}</ul>
        </Fragment>
      ))}
      <h2>{link('schemas', 'Schemas')}</h2>
      <ul className="plain">{Object.keys(schemas).map((name) => <li key={name}>{link(`schema-${name}`, name)}</li>)}</ul>
    </nav>
  );
}

// The anchor of the part whose top is in the upper quarter of the window.
function useCurrent(): string | undefined {
  const [current, setCurrent] = useState<string>();
  useEffect(() => {
    const seen = new IntersectionObserver((entries) => {
      const last = entries.findLast((entry) => entry.isIntersecting);
      if (last) setCurrent(last.target.id);
    }, { rootMargin: '-56px 0px -75% 0px' });
    for (const part of document.querySelectorAll('main :is(article, section > h2)[id]')) seen.observe(part);
    return () => seen.disconnect();
  }, []);
  useEffect(() => {
    if (current) document.querySelector('.side-contents [aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return current;
}
