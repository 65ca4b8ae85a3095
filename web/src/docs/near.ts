import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useTarget } from './target';

/** How far around the window parts are drawn, in pixels: by reading on, nobody reaches one that is not. */
const around = 1600;

/** The pixels at the top of the window below the bar: what ends above them moves what is read when it grows. */
const bar = 64;

// The parts that are not drawn, with what draws them.
const waiting = new Map<Element, () => void>();
let observer: IntersectionObserver | undefined;

function watch(part: Element, draw: () => void): () => void {
  observer ??= new IntersectionObserver((entries) => {
    drawAll(entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target));
  }, { rootMargin: `${around}px 0px` });
  waiting.set(part, draw);
  observer.observe(part);
  return () => {
    waiting.delete(part);
    observer?.unobserve(part);
  };
}

// A browser that does not anchor scrolling by itself would move what is read by the growth of the parts above.
function drawAll(parts: Element[]): void {
  const above = parts.filter((part) => part.getBoundingClientRect().bottom <= bar);
  const height = () => above.reduce((sum, part) => sum + part.getBoundingClientRect().height, 0);
  const before = height();
  flushSync(() => { for (const part of parts) waiting.get(part)?.(); });
  if (!CSS.supports('overflow-anchor', 'auto')) scrollBy(0, height() - before);
}

// What is printed is the whole reference.
addEventListener('beforeprint', () => drawAll([...waiting.keys()]));

/**
 * Whether the part of the page with an anchor is to be drawn. It is from when it comes near the window, the address names the
 * part or something in it, or the page is printed. The reference goes to the element of the part, which is there before.
 */
export function useNear(id: string): [near: boolean, part: React.RefObject<HTMLElement | null>] {
  const part = useRef<HTMLElement>(null);
  const target = useTarget();
  const named = target === id || target.startsWith(`${id}.`);
  const [drawn, setDrawn] = useState(false);
  const near = drawn || named;
  if (named && !drawn) setDrawn(true);
  useEffect(() => (near ? undefined : watch(part.current!, () => setDrawn(true))), [near]);
  return [near, part];
}
