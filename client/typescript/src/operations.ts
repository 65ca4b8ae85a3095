// Written by make api; do not edit.
import type { CallOptions } from "./call.js";
import { Core } from "./core.js";
import type { Schemas } from "./types.js";

/** The calls that need no more than their request. */
export class Operations extends Core {
  /** Every model that the operator has configured, in the order of the configuration. Exactly one is the default, which answers the calls of versions that name no model. Every role may list models. Addresses, keys and headers of upstreams are never shown. */
  listModels(options?: CallOptions): Promise<Schemas["ModelList"]> {
    return this.caller.json({ operation: "listModels", method: "GET", path: ["models"] }, options);
  }
  /** Whether each configured model is asked, how many calls it answers at the moment, and how its last calls failed, as the process that answers knows since its start. Failures that say something of a text alone are left out. Needs a key of an owner. */
  listModelStates(options?: CallOptions): Promise<Schemas["ModelStateList"]> {
    return this.caller.json({ operation: "listModelStates", method: "GET", path: ["models", "states"] }, options);
  }
  /** The member whom a result is assigned to. Null: nobody. */
  readAssignee(result_id: string, options?: CallOptions): Promise<Schemas["Assignee"]> {
    return this.caller.json({ operation: "readAssignee", method: "GET", path: ["results", result_id, "assignee"] }, options);
  }
  /** Returns a webhook without its secret: what it sends, whether it is enabled, and how much waits. */
  readWebhook(webhook_id: string, options?: CallOptions): Promise<Schemas["Webhook"]> {
    return this.caller.json({ operation: "readWebhook", method: "GET", path: ["webhooks", webhook_id] }, options);
  }
  /** The account of the key, the limits that its operator set, and what it has. Null is no limit. The counts and bytes are those of the moment. */
  readAccount(options?: CallOptions): Promise<Schemas["Account"]> {
    return this.caller.json({ operation: "readAccount", method: "GET", path: ["account"] }, options);
  }
}
