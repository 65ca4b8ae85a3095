import {
  type Commands, commandsOf, curlGet, curlSend, goString, keywords, object, queryOf, shellWord, targetFlags,
} from './commands';

/** A question, or an option of it. */
interface Target {
  question: string;
  option?: string | undefined;
}

const json = JSON.stringify;

/** The calibrations of a question of a version. */
export function calibrationsCommands(origin: string, prism: string, version: number, { question, option }: Target): Commands {
  return commandsOf(origin, {
    curl: curlGet(`${origin}/v1/prisms/${prism}/versions/${version}/calibrations${queryOf({ question, option })}`),
    go:
      `calibrations, err := c.ListCalibrations(ctx, ${goString(prism)}, ${version}, ${goString(question)}, client.PageOptions{})`,
    typescript: `const calibrations = await prism.listCalibrations(${json(prism)}, ${version}, ${object({ question, option })});`,
    python: `calibrations = client.list_calibrations(${json(prism)}, ${version}${keywords({ question, option })}).page()`,
    prismctl: `prismctl calibrate list ${prism} --version ${version} ${targetFlags({ question, option }).join(' ')}`,
  });
}

const goMethods = { auto: 'Auto', temperature: 'Temperature', platt: 'Platt', isotonic: 'Isotonic' } as const;

/** How to fit a calibration to the labels of a question of a version. */
export function calibrateCommands(
  origin: string, prism: string, version: number, { question, option }: Target, method: keyof typeof goMethods,
): Commands {
  const of = option === undefined ? '' : `Option: ${goString(option)}, `;
  const body = { question, ...(option !== undefined && { option }), method };
  const made = `client.NewCalibration{Question: ${goString(question)}, ${of}Method: client.${goMethods[method]}Calibration}`;
  return commandsOf(origin, {
    curl: curlSend('POST', `${origin}/v1/prisms/${prism}/versions/${version}/calibrations`, body),
    go: `calibration, err := c.CreateCalibration(ctx, ${goString(prism)}, ${version},\n\t${made})`,
    typescript: `const calibration = await prism.createCalibration(${json(prism)}, ${version}, ${object(body)});`,
    python: `calibration = client.create_calibration(${json(prism)}, ${version}, ${json(question)}, ${json(method)}${
      keywords({ option })})`,
    prismctl: `prismctl calibrate fit ${prism} --version ${version} ${
      targetFlags({ question, option }).join(' ')} --method ${method}`,
  });
}

/** How far the answers of a version are from its reference. */
export function driftCommands(origin: string, prism: string, version: number): Commands {
  return commandsOf(origin, {
    curl: curlGet(`${origin}/v1/prisms/${prism}/drift${queryOf({ version })}`),
    go: `drift, err := c.ReadDrift(ctx, ${goString(prism)}, ${version})`,
    typescript: `const drift = await prism.readDrift(${json(prism)}, ${object({ version })});`,
    python: `drift = client.read_drift(${json(prism)}${keywords({ version })})`,
    prismctl: `prismctl quality drift ${prism} --version ${version}`,
  });
}

/** Results that have no label for a question: of any version, unless one is given. */
interface QueueCall {
  prism: string;
  question: string;
  order: 'random' | 'uncertain';
  version?: number | undefined;
}

/** How to read the first page of what is to be labelled. */
export function queueCommands(origin: string, { prism, question, order, version }: QueueCall): Commands {
  const filter = [
    `Question: ${goString(question)}`, ...(order === 'uncertain' ? ['Order: client.UncertainSample'] : []),
    ...(version ? [`Version: ${version}`] : []),
  ].join(', ');
  return commandsOf(origin, {
    curl: curlGet(`${origin}/v1/prisms/${prism}/label-queue${queryOf({ question, order, version })}`),
    go: `queue, err := c.ListLabelQueue(ctx, ${goString(prism)},\n\tclient.LabelQueue{${filter}}, client.PageOptions{})`,
    typescript: `const queue = await prism.listLabelQueue(${json(prism)}, ${object({ question, order, version })});`,
    python: `queue = client.list_label_queue(${json(prism)}, ${json(question)}${keywords({ order, version })}).page()`,
    prismctl: `prismctl labels queue --prism ${prism} --question ${shellWord(question)} --order ${order}`
      + (version ? ` --version ${version}` : ''),
  });
}

/** A label of a result, with the sample of its queue. */
interface LabelCall {
  result: string;
  question: string;
  value: string | boolean | string[];
  sample: 'random' | 'uncertain';
}

/** How to label a result. */
export function labelCommands(origin: string, { result, question, value, sample }: LabelCall): Commands {
  const word = value === true ? 'yes' : value === false ? 'no' : Array.isArray(value) ? value.join('; ') || 'none' : value;
  const python = value === true ? 'True' : value === false ? 'False' : json(value);
  const go = Array.isArray(value) ? `client.LabelOf(${value.map(goString).join(', ')})` : goString(String(value));
  return commandsOf(origin, {
    curl: curlSend('PUT', `${origin}/v1/results/${result}/labels`, { labels: { [question]: value }, sample }),
    go: [
      `labelled, err := c.PutLabels(ctx, ${goString(result)}, client.NewLabels{`,
      `\tLabels: map[string]client.LabelValue{${goString(question)}: ${go}},`,
      `\tSample: client.${sample === 'random' ? 'Random' : 'Uncertain'}Sample,`,
      '})',
    ].join('\n'),
    typescript: `const labelled = await prism.putLabels(${json(result)}, ${json({ labels: { [question]: value }, sample })});`,
    python: `labelled = client.put_labels(${json(result)}, {${json(question)}: ${python}}, sample=${json(sample)})`,
    prismctl: `prismctl labels set ${result} ${shellWord(`${question}=${word}`)} --sample ${sample}`,
  });
}
