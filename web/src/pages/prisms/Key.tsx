import { type DraftField, freeKey } from '@/definitions/model';
import { Text, useEditing } from './Control';

/** The key of an item, where it is asked for or something is wrong with it. */
export function Key({ path, of: { key }, asked, onChange }: {
  path: string; of: Pick<DraftField, 'key'>; asked: boolean; onChange: (key: string) => void;
}) {
  const { problems } = useEditing();
  if (!asked && !problems.has(path)) return null;
  return <Text path={path} label="Key" mono value={key} onChange={onChange} />;
}

/** The label of an item, with the key that follows it until the item is saved or the key is typed. */
export function labelled<T extends Pick<DraftField, 'id' | 'key' | 'auto'>>(
  item: T, label: string, noun: string, items: T[], taken: string[] = [],
) {
  const others = items.filter(({ id }) => id !== item.id).map(({ key }) => key);
  return { ...item, label, ...(item.auto && { key: freeKey(label, noun, [...others, ...taken]) }) };
}
