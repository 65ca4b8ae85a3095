import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Question } from '@/answers/words';
import { ApiError, useCan } from '@/api';
import { calibrateCommands, calibrationsCommands } from '@/commands/quality';
import { SameCall } from '@/commands/SameCall';
import type { Prism } from '@/data/prisms';
import { type Calibration, calibrationsQuery, createCalibration, type Of, pinCalibration, tooFew } from '@/data/quality';
import { Badge, Button, ButtonLink, Copy, count, Empty, ErrorNote, Note, Section, Select, Skeleton, Time, toast } from '@/design';
import { kindOf } from '@/questions';
import { useActions } from '@/shell/actions';
import { fixed, rounded } from './figures';
import { Interval } from './Interval';
import { LabelsNeeded } from './LabelsNeeded';

type Method = Parameters<typeof createCalibration>[3];

interface CalibrationsProps {
  prism: Prism;
  of: Of & { question: string };
  /** Of an option, that of a yes_no question. */
  type: Question['type'];
  pinned: string | null;
}

/** The calibrations of a question of a version: fitting one, and which one is pinned. */
export function Calibrations(props: CalibrationsProps) {
  const { prism: { slug, archived_at }, of } = props;
  const { version } = of;
  const canEdit = useCan('edit') && archived_at === null;
  const [method, setMethod] = useState<Method>('auto');
  return (
    <>
      <Fitted {...props} canEdit={canEdit} method={method} onMethod={setMethod} />
      <SameCall commands={canEdit
        ? calibrateCommands(location.origin, slug, version, of, method)
        : calibrationsCommands(location.origin, slug, version, of)} />
    </>
  );
}

function Fitted({ prism, of, type, pinned, canEdit, method, onMethod }: Parameters<typeof Calibrations>[0] & {
  canEdit: boolean; method: Method; onMethod: (method: Method) => void;
}) {
  const client = useQueryClient();
  const list = useQuery(calibrationsQuery(prism.slug, of.version, of));
  const renew = () => client.invalidateQueries({ queryKey: ['quality', prism.slug] });
  const pin = useMutation({
    mutationFn: (id: string | null) => pinCalibration(prism.slug, of.version, of, id),
    onSuccess: async (_, id) => {
      const before = pinned;
      for (const queryKey of [['results'], ['prism', prism.slug, 'preview']]) void client.invalidateQueries({ queryKey });
      await renew();
      toast(id === null ? 'Unpinned: calibrated columns show nothing for this question.'
        : 'Pinned: calibrated columns show it from the next read on.', () => pin.mutate(before));
    },
  });
  const fit = useMutation({
    mutationFn: () => createCalibration(prism.slug, of.version, of, method),
    onSuccess: async (made) => { await renew(); toast(`Fitted: ${nameOf(made)}.`, undefined); },
  });
  useActions(canEdit
    ? [{ id: 'quality calibrate', group: 'Quality', label: 'Calibrate the question', run: () => fit.mutate() }] : []);
  const few = tooFew(fit.error);
  const oneClass = few && fit.error instanceof ApiError && fit.error.message.includes('one class');
  const none = fit.error instanceof ApiError && fit.error.status === 409 && !few ? fit.error.message : undefined;
  const methods: [Method, string][] = kindOf({ type }).ofYes
    ? [['auto', 'The best, if it helps'], ['platt', 'Platt'], ['isotonic', 'Isotonic']]
    : [['auto', 'Temperature, if it helps'], ['temperature', 'Temperature, in any case']];
  return (
    <Section title="Calibrations" actions={pinned !== null && (
      <ButtonLink small to="/prisms/$prism/quality" params={{ prism: prism.slug }}
        search={{ question: of.question, option: of.option, version: of.version, calibrated: true }}>
        Before and after
      </ButtonLink>
    )}>
      <p className="soft">
        A calibration maps stored probabilities to ones that mean what they say. Pinning one puts it in use: the columns of the
        Lens, which is what calls and downloads show, that are calibrated show it from then on. Stored answers never change.
      </p>
      {canEdit ? (
        <form className="inline-form" onSubmit={(event) => { event.preventDefault(); fit.mutate(); }}>
          <Select label="Method" hideLabel value={method} options={methods}
            onChange={(event) => onMethod(event.target.value as Method)} />
          <Button type="submit" variant="primary" busy={fit.isPending}>Calibrate</Button>
        </form>
      ) : (
        <Note>
          {prism.archived_at === null ? 'Your role may not make or pin calibrations. Owners and editors may.'
            : 'An archived prism takes no changes.'}
        </Note>
      )}
      {few && !oneClass && (
        <LabelsNeeded prism={prism.slug} version={of.version} question={of.question} {...few} what="a calibration" />
      )}
      {oneClass && (
        <Note tone="warn">
          Only {few.have} of {few.need} labels of the rarer answer: label more results until yes and no have {few.need} each.
        </Note>
      )}
      {none && <Note>{none} Nothing was stored. More labels, or another method, may find one.</Note>}
      {!few && !none && <ErrorNote error={fit.error} title="Nothing was fitted." onRetry={() => fit.mutate()} />}
      <ErrorNote error={pin.error} title="The pin was not changed." />
      <ErrorNote error={list.error} title="The calibrations could not be loaded." onRetry={() => void list.refetch()} />
      {list.data?.length === 0 && !few && (
        <Empty title="No calibration yet" drawing="reliability">
          {canEdit ? 'Calibrate fits one to the labels that count, and says what it gains on labels that it has not seen.'
            : 'Nobody has fitted one to this question yet.'}
        </Empty>
      )}
      {!list.data && !list.error && <Skeleton shape="table" lines={3} />}
      {list.data && list.data.length > 0 && (
        <div className="quality-scroll" tabIndex={0} role="region" aria-label="Calibrations">
          <table className="table">
            <thead>
              <tr>
                <th scope="col" className="wide">Fitted</th>
                <th scope="col">Method</th>
                <th scope="col" className="end wide">Labels</th>
                <th scope="col" className="end wide">Log loss before</th><th scope="col" className="end wide">after</th>
                <th scope="col" className="end">Gain, 95% interval</th>
                <th scope="col" className="wide">Pin</th>
                <th scope="col"><span className="unseen">Actions</span></th>
              </tr>
            </thead>
            <tbody>
              {list.data.map((c) => (
                <tr key={c.id} aria-current={c.id === pinned || undefined}>
                  <td className="wide"><Time at={c.created_at} /></td>
                  <th scope="row">{nameOf(c)}</th>
                  <td className="end wide">{c.labels}</td>
                  <td className="end wide" title={String(c.log_loss_before)}>{fixed(c.log_loss_before)}</td>
                  <td className="end wide" title={String(c.log_loss_after)}>{fixed(c.log_loss_after)}</td>
                  <td className="end"><Interval of={c.gain} /></td>
                  <td className="wide">
                    {c.id === pinned ? <Badge tone="good">pinned</Badge> : <span className="soft">no</span>}
                  </td>
                  <td className="end">
                    <span className="row quality-actions">
                      {canEdit && (
                        <Button small busy={pin.isPending} onClick={() => pin.mutate(c.id === pinned ? null : c.id)}>
                          {c.id === pinned ? 'Unpin' : 'Pin'}
                        </Button>
                      )}
                      <Copy text={c.id} label="Copy calibration id" />
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {list.data && list.data.length > 0 && (
        <p className="soft">
          The log loss after is of {count(5, 'fit')} to labels of other inputs each (cross-validation), so the gain is what new
          answers can expect. Another version needs its own calibration.
        </p>
      )}
    </Section>
  );
}

/** A calibration in words: `Temperature 1.21`, `Platt 1.7, 0.004`, `Isotonic, 6 corners`. */
export function nameOf(c: Calibration): string {
  switch (c.method) {
    case 'temperature': return `Temperature ${rounded(c.temperature ?? 1)}`;
    case 'platt': return `Platt ${rounded(c.a ?? 1)}, ${rounded(c.b ?? 0)}`;
    case 'isotonic': return `Isotonic, ${count(c.points?.length ?? 0, 'corner')}`;
  }
}
