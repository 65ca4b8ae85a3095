/** Something that is found by its words. */
export interface Findable {
  value: string;
  label: string;
  /** More that finds it, and stands beside it, such as its group. */
  more?: string | undefined;
}

const plain = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();

/**
 * The items that have every word of a text in their label, value or more, in their order: those first that begin with it, then
 * those of which a word does. Without a text all of them.
 */
export function find<T extends Findable>(items: readonly T[], text: string): readonly T[] {
  const wanted = plain(text);
  if (!wanted) return items;
  const words = wanted.split(/\s+/);
  const ranks: T[][] = [[], [], []];
  for (const item of items) {
    const label = plain(item.label);
    const all = `${label} ${item.value.toLowerCase()} ${item.more ? plain(item.more) : ''}`;
    if (!words.every((word) => all.includes(word))) continue;
    const rank = label.startsWith(wanted) ? 0 : ` ${label}`.includes(` ${wanted}`) ? 1 : 2;
    ranks[rank]!.push(item);
  }
  return ranks.flat();
}
