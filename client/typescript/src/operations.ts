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
  /** The account of the key, the limits that its operator set, and what it has. Null is no limit. The counts and bytes are those of the moment. */
  readAccount(options?: CallOptions): Promise<Schemas["Account"]> {
    return this.caller.json({ operation: "readAccount", method: "GET", path: ["account"] }, options);
  }
}
