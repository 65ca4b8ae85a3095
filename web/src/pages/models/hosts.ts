import hosts from './hosts.json';

export interface Host {
  id: string;
  name: string;
  /** The variable that has its key; null for a server of your own. */
  key: string | null;
  /** The members of its entry in the file of models, without the name. */
  entry: string;
}

/** Ten hosts of models. A test of the file of models reads each of them. */
export const allHosts: Host[] = hosts;

/** A file of models with this host alone. */
export function fileOf(host: Host): string {
  const members = host.entry.split('\n').map((line) => `    ${line}`).join('\n');
  return `default: ${host.id}\nmodels:\n  - name: ${host.id}\n${members}\n`;
}

/** How Prism is started with that file. */
export function startOf(host: Host): string {
  return `${host.key ? `export ${host.key}=…\n` : ''}PRISM_MODELS_FILE=models.yaml prism`;
}
