/** What of the page is in its address. */
export interface AuditSearch {
  /** The first and the last day, in UTC. */
  from?: string;
  to?: string;
  /** `operator`, `retention`, `webhooks`, or the id of a key or member. */
  actor?: string;
  /** The id of the open entry. */
  open?: string;
}
