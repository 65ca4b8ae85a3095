import { Code, Copy, Dialog, Note, Button, Time } from '@/design';
import type { CreatedWebhook } from './api';

const verifying = `# pip install standardwebhooks
import os
from standardwebhooks import Webhook

webhook = Webhook(os.environ["PRISM_WEBHOOK_SECRET"])
event = webhook.verify(body, headers)  # the bytes of the body, as they came`;

/** Shows the secret of a webhook, this once. It leaves the document with the dialog. */
export function Secret({ made, onClose }: { made: CreatedWebhook; onClose: () => void }) {
  return (
    <Dialog open firm wide onClose={onClose} title="Secret of the webhook" actions={
      <>
        <Button onClick={onClose}>Done</Button>
        <Copy text={made.secret} label="Copy secret" small={false} variant="primary">Copy secret</Copy>
      </>
    }>
      <div className="stack">
        <Note tone="warn">This secret is shown only now. Copy it to where your receiver reads its secrets.</Note>
        <Code text={made.secret} label="Copy secret" wrap />
        {made.previous_secret_until && (
          <p className="soft">Events are signed with the secret before too until <Time at={made.previous_secret_until} />.</p>
        )}
        <p>
          The receiver verifies each event with it, by a library of <a href="https://www.standardwebhooks.com"
            target="_blank" rel="noreferrer">Standard Webhooks</a>:
        </p>
        <Code text={verifying} label="Copy Python" />
      </div>
    </Dialog>
  );
}
