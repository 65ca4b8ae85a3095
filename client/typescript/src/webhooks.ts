import type { CallOptions } from "./call.js";
import { Download } from "./download.js";
import { lacking, without } from "./lacking.js";
import type { List } from "./lists.js";
import { Measures } from "./measures.js";
import { responses } from "./shapes.js";
import type { CreatedWebhook, Delivery, Event, Events, NewWebhook, Selection, Webhook } from "./types.js";

/** Webhooks: URLs to which what happens is sent. */
export class Webhooks extends Measures {
  /** Has events sent to a URL from now on. Only this response has the secret. */
  createWebhook(webhook: NewWebhook, options?: CallOptions): Promise<CreatedWebhook> {
    const call = { operation: "createWebhook", method: "POST", path: ["webhooks"], body: webhook, want: 201 } as const;
    return this.caller.json(call, options);
  }

  /** Lists webhooks, newest first. */
  listWebhooks(selection?: Selection<"listWebhooks">, options?: CallOptions): List<Webhook> {
    return this.list("listWebhooks", ["webhooks"], selection, options);
  }

  /** Replaces all of a webhook but its id, its secret and what waits. It enables the webhook unless `enabled` is false. */
  replaceWebhook(id: string, webhook: NewWebhook, options?: CallOptions): Promise<Webhook> {
    return this.caller.json({ operation: "replaceWebhook", method: "PUT", path: ["webhooks", id], body: webhook }, options);
  }

  /** Deletes a webhook with what waits and its deliveries. */
  deleteWebhook(id: string, options?: CallOptions): Promise<void> {
    return this.caller.nothing({ operation: "deleteWebhook", method: "DELETE", path: ["webhooks", id] }, options);
  }

  /** Sends an event `webhook.test` once. It returns before the try, which listDeliveries shows. */
  testWebhook(id: string, options?: CallOptions): Promise<Delivery> {
    return this.caller.json({ operation: "testWebhook", method: "POST", path: ["webhooks", id, "test"] }, options);
  }

  /** Makes a new secret. For 24 hours events are signed with the one before too. */
  rotateWebhook(id: string, options?: CallOptions): Promise<CreatedWebhook> {
    return this.caller.json({ operation: "rotateWebhook", method: "POST", path: ["webhooks", id, "rotate"] }, options);
  }

  /** Lists the deliveries of a webhook, newest first. */
  listDeliveries(webhook: string, selection?: Selection<"listDeliveries">, options?: CallOptions): List<Delivery> {
    return this.list("listDeliveries", ["webhooks", webhook, "deliveries"], selection, options);
  }

  /** Sends an event that was delivered or has failed again. */
  resendDelivery(webhook: string, delivery: string, options?: CallOptions): Promise<Delivery> {
    const path = ["webhooks", webhook, "deliveries", delivery, "resend"];
    return this.caller.json({ operation: "resendDelivery", method: "POST", path }, options);
  }

  /** Reads what happened behind the place `after`, oldest first. Without `after` the page is empty, and `next` is now. */
  listEvents(selection?: Selection<"listEvents">, options?: CallOptions): Promise<Events> {
    return this.caller.json({ operation: "listEvents", method: "GET", path: ["events"], query: selection }, options);
  }

  /** Iterates over what happens from now on, or behind the place `after`, until the stream ends. */
  async *followEvents(
    selection?: Selection<"followEvents">, options: CallOptions = {},
  ): AsyncGenerator<Event, void, undefined> {
    const type = "text/event-stream";
    const call = { operation: "followEvents", method: "GET", path: ["events", "stream"], query: selection, type } as const;
    const received = await this.caller.call(call, options, async (begun) => begun);
    for await (const line of new Download(received.chunks(), () => received.end()).lines()) {
      if (!line.startsWith("data:")) continue;
      const event = JSON.parse(line.slice("data:".length)) as Event;
      const missing = lacking(event, responses["followEvents 200"]!);
      if (missing.length > 0) throw received.unexpected(without(missing));
      yield event;
    }
  }
}
