/** How dark a level of a scale is drawn, from 0.3 of the first one to 1 of the last one, wherever it is drawn. */
export function strengthOf(at: number, levels: number): number {
  return levels < 2 ? 1 : 0.3 + (0.7 * at) / (levels - 1);
}
