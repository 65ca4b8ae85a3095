import { type InputHTMLAttributes, type ReactNode, type Ref, type SelectHTMLAttributes, type TextareaHTMLAttributes, useId } from 'react';
import './controls.css';
import { Icon } from './icons';

interface Labelled {
  label: ReactNode;
  /** Says what is expected, before anything is wrong. */
  hint?: ReactNode;
  /** What is wrong and what to do; marks the control as invalid. */
  error?: ReactNode;
  /** Keeps the label for assistive technology only, where the place says it to the eye. */
  hideLabel?: boolean;
}

interface Ids {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

/** The label, hint and error around a control of one's own: `<Field label="Role">{(ids) => <X {...ids} />}</Field>`. */
export function Field({ label, hint, error, hideLabel, className, children }: Labelled & { className?: string | undefined; children: (ids: Ids) => ReactNode }) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return (
    <div className={['field', className].filter(Boolean).join(' ')}>
      <label htmlFor={id} className={hideLabel ? 'unseen' : undefined}>{label}</label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': error ? true : undefined })}
      {error && <p className="field-error" id={`${id}-error`}><Icon name="bad" />{error}</p>}
      {hint && <p className="field-hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

export function Input({ label, hint, error, hideLabel, className, ...rest }: Labelled & InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }) {
  return (
    <Field {...{ label, hint, error, hideLabel, className }}>
      {(ids) => <input {...ids} autoComplete="off" {...rest} className="input" />}
    </Field>
  );
}

export function Textarea({ label, hint, error, hideLabel, className, mono, ...rest }: Labelled & TextareaHTMLAttributes<HTMLTextAreaElement> & { mono?: boolean; ref?: Ref<HTMLTextAreaElement> }) {
  return (
    <Field {...{ label, hint, error, hideLabel, className }}>
      {(ids) => <textarea {...ids} rows={4} {...rest} className={mono ? 'input mono' : 'input'} />}
    </Field>
  );
}

/** A native select. Options are `[value, words]`, or children. */
export function Select({ label, hint, error, hideLabel, className, options, children, ...rest }: Labelled & SelectHTMLAttributes<HTMLSelectElement> & { options?: readonly (readonly [string, string])[]; ref?: Ref<HTMLSelectElement> }) {
  return (
    <Field {...{ label, hint, error, hideLabel, className }}>
      {(ids) => (
        <span className="select">
          <select {...ids} {...rest} className="input">
            {options?.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
            {children}
          </select>
          <Icon name="down" />
        </span>
      )}
    </Field>
  );
}

export function Checkbox({ label, hint, className, ...rest }: { label: ReactNode; hint?: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className={['check', className].filter(Boolean).join(' ')}>
      <input {...rest} type="checkbox" id={id} aria-describedby={hint ? `${id}-hint` : undefined} />
      <label htmlFor={id}>{label}</label>
      {hint && <p className="field-hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}
