import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { calibrateCommands, calibrationsCommands, driftCommands, labelCommands, queueCommands } from './quality';

const origin = 'https://prism.example';

// spec: console-same-call
describe('a call about quality in each language', () => {
  it.each([
    ['calibrations', calibrationsCommands(origin, 'support', 2, { question: 'refund' }), {
      curl: `${origin}/v1/prisms/support/versions/2/calibrations?question=refund`,
      go: 'c.ListCalibrations(ctx, "support", 2, "refund", client.PageOptions{})',
      typescript: 'await prism.listCalibrations("support", 2, { question: "refund" });',
      python: 'client.list_calibrations("support", 2, question="refund").page()',
      prismctl: 'prismctl calibrate list support --version 2 --question refund',
    }],
    ['fitting a calibration', calibrateCommands(origin, 'support', 2, { question: 'refund' }, 'platt'), {
      curl: `-d '{"question":"refund","method":"platt"}'`,
      go: 'c.CreateCalibration(ctx, "support", 2,\n\tclient.NewCalibration{Question: "refund", Method: client.PlattCalibration})',
      typescript: 'await prism.createCalibration("support", 2, { question: "refund", method: "platt" });',
      python: 'client.create_calibration("support", 2, "refund", "platt")',
      prismctl: 'prismctl calibrate fit support --version 2 --question refund --method platt',
    }],
    ['drift', driftCommands(origin, 'support', 2), {
      curl: `${origin}/v1/prisms/support/drift?version=2`,
      go: 'c.ReadDrift(ctx, "support", 2)',
      typescript: 'await prism.readDrift("support", { version: 2 });',
      python: 'client.read_drift("support", version=2)',
      prismctl: 'prismctl quality drift support --version 2',
    }],
    ['a queue', queueCommands(origin, { prism: 'support', question: 'refund', order: 'random' }), {
      curl: `${origin}/v1/prisms/support/label-queue?question=refund&order=random`,
      go: 'c.ListLabelQueue(ctx, "support",\n\tclient.LabelQueue{Question: "refund"}, client.PageOptions{})',
      typescript: 'await prism.listLabelQueue("support", { question: "refund", order: "random" });',
      python: 'client.list_label_queue("support", "refund", order="random").page()',
      prismctl: 'prismctl labels queue --prism support --question refund --order random',
    }],
    ['a queue of the least sure of a version',
      queueCommands(origin, { prism: 'support', question: 'refund', order: 'uncertain', version: 3 }), {
        go: 'client.LabelQueue{Question: "refund", Order: client.UncertainSample, Version: 3}',
        python: 'order="uncertain", version=3).page()',
        prismctl: '--order uncertain --version 3',
      }],
    ['a label', labelCommands(origin, { result: 'r1', question: 'refund', value: true, sample: 'uncertain' }), {
      curl: '-X PUT https://prism.example/v1/results/r1/labels',
      go: 'Labels: map[string]client.LabelValue{"refund": "true"},\n\tSample: client.UncertainSample,',
      typescript: 'await prism.putLabels("r1", {"labels":{"refund":true},"sample":"uncertain"});',
      python: 'client.put_labels("r1", {"refund": True}, sample="uncertain")',
      prismctl: 'prismctl labels set r1 refund=yes --sample uncertain',
    }],
    ['a label of tags', labelCommands(origin, { result: 'r1', question: 'about', value: ['vip', 'refund'], sample: 'random' }), {
      go: 'Labels: map[string]client.LabelValue{"about": client.LabelOf("vip", "refund")},',
      typescript: 'await prism.putLabels("r1", {"labels":{"about":["vip","refund"]},"sample":"random"});',
      python: 'client.put_labels("r1", {"about": ["vip","refund"]}, sample="random")',
      prismctl: `prismctl labels set r1 'about=vip; refund' --sample random`,
    }],
    ['a label that says none', labelCommands(origin, { result: 'r1', question: 'about', value: [], sample: 'random' }), {
      go: 'client.LabelOf()', python: '{"about": []}', prismctl: 'prismctl labels set r1 about=none --sample random',
    }],
    ['a calibration of an option', calibrateCommands(origin, 'support', 2, { question: 'about', option: 'vip' }, 'platt'), {
      curl: `-d '{"question":"about","option":"vip","method":"platt"}'`,
      typescript: 'await prism.createCalibration("support", 2, { question: "about", option: "vip", method: "platt" });',
      python: 'client.create_calibration("support", 2, "about", "platt", option="vip")',
      prismctl: 'prismctl calibrate fit support --version 2 --question about --option vip --method platt',
    }],
  ])('%s', (_, commands, parts) => {
    for (const [way, part] of Object.entries(parts)) expect(commands[way as keyof typeof commands]).toContain(part);
  });

  it('sends a body that a shell leaves as it is', () => {
    const { curl } = labelCommands(origin, { result: 'r1', question: 'topic', value: "it's", sample: 'random' });
    const body = execFileSync('sh', ['-c', curl.replace(/^curl[^]*? -d /, 'printf %s ')], { encoding: 'utf8' });
    expect(JSON.parse(body)).toEqual({ labels: { topic: "it's" }, sample: 'random' });
  });
});
