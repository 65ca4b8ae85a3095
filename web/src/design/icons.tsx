const paths = {
  home: 'M2.5 7.5 8 2.8l5.5 4.7M4 6.5v6.7h8V6.5',
  prism: 'M8 2.5 14 13H2zM8 2.5V13',
  results: 'M2.5 3.5h11M2.5 8h11M2.5 12.5h7',
  runs: 'M5 3.2v9.6L12.5 8z',
  usage: 'M2.5 13.5h11M4.5 11V7.5M8 11V3M11.5 11V6',
  model:
    'M4.5 4.5h7v7h-7zM6.5 2.5v2M9.5 2.5v2M6.5 11.5v2M9.5 11.5v2'
    + 'M2.5 6.5h2M2.5 9.5h2M11.5 6.5h2M11.5 9.5h2',
  key: 'M9.8 6.2a3 3 0 1 1-1-1l4.7-2.7M11.2 3.8l1 1.7M5.6 8.4h.01',
  members:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.8 13.5c.3-2.6 2-4 4.2-4s3.9 1.4 4.2 4'
    + 'M10.5 2.8a2.3 2.3 0 0 1 0 4.4M12 9.9c1.3.5 2 1.7 2.2 3.6',
  audit: 'M4 2.5h8v11H4zM6.3 5.5h3.4M6.3 8h3.4M6.3 10.5h2',
  account: 'M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8zM2.8 13.5c.5-2.5 2.5-3.8 5.2-3.8s4.7 1.3 5.2 3.8',
  docs: 'M3 3h4.2c.5 0 .8.3.8.8V13c0-.6-.4-1-1-1H3zM13 3H8.8c-.5 0-.8.3-.8.8V13c0-.6.4-1 1-1h4z',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.2 3.2',
  close: 'm3.5 3.5 9 9M12.5 3.5l-9 9',
  check: 'm3 8.5 3.3 3.3L13 4.7',
  copy: 'M6 5.5h7.5v8H6zM3.5 10.5h-1v-8H10v1',
  plus: 'M8 3v10M3 8h10',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  up: 'm4 10 4-4 4 4',
  down: 'm4 6 4 4 4-4',
  left: 'm10 4-4 4 4 4',
  right: 'm6 4 4 4-4 4',
  warn: 'M8 2.5 14.3 13H1.7zM8 6.5v3M8 11.2h.01',
  bad: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.5M8 10.8h.01',
  good: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM5.5 8.2l1.8 1.7 3.3-3.6',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.3V11M8 5h.01',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.5',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  stop: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM4 12l8-8',
  play: 'M5 3.2v9.6L12.5 8z',
  dot: 'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  archive: 'M2.5 3.5h11v3h-11zM3.5 6.5v6.5h9V6.5M6.5 9.3h3',
  download: 'M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M2.5 13.5h11',
  upload: 'M8 11V3M4.8 6 8 2.8 11.2 6M2.5 13.5h11',
  retry: 'M13 8a5 5 0 1 1-1.5-3.6L13 5.8M13 2.5v3.3H9.7',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.3 4.5l.6 9h6.2l.6-9',
  filter: 'M2.5 3.5h11L9.5 8.5v4l-3-1.5V8.5z',
  table: 'M2.5 3h11v10h-11zM2.5 6.5h11M6.5 6.5V13',
  sun:
    'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5'
    + 'M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M3.4 12.6l1.1-1.1M11.5 4.5l1.1-1.1',
  moon: 'M13.3 9.5A5.8 5.8 0 0 1 6.5 2.7a5.7 5.7 0 1 0 6.8 6.8z',
  screen: 'M2 3h12v8H2zM6 13.5h4',
  send: 'M14 2 7 9M14 2 9.5 14 7 9 2 6.5z',
  link: 'M6.8 9.2 9.2 6.8M7.5 4.8l1.2-1.2a2.6 2.6 0 0 1 3.7 3.7L11.2 8.5M8.5 11.2l-1.2 1.2a2.6 2.6 0 0 1-3.7-3.7L4.8 7.5',
  edit: 'M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3z',
  drag: 'M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01',
  offline:
    'M2 2l12 12M4.5 7.2A6 6 0 0 1 6.3 6M8.8 5.6a6 6 0 0 1 3 1.6'
    + 'M2.3 4.8A9 9 0 0 1 4.3 3.5M7.5 2.6a9 9 0 0 1 6.2 2.2M6.5 9.6a3 3 0 0 1 3 .1M8 12.5h.01',
} as const;

export type IconName = keyof typeof paths;

/** A picture of 16 px in the colour of the text. It says nothing by itself: a word stands beside it. */
export function Icon({ name, className }: { name: IconName; className?: string }) {
  return (
    <svg className={className} width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor" aria-hidden="true"
      strokeWidth={name === 'more' || name === 'drag' ? 2 : 1.5} strokeLinecap="round" strokeLinejoin="round">
      <path d={paths[name]} />
    </svg>
  );
}
