/** The numbers of the settings: what each is for, and within which limits (docs/spec/lifecycle.md, section 7). */

/** @typedef {{name: string, label: string, hint: string, from: number, to: number}} Limit */

/** @type {[string, Limit[]][]} */
export const GROUPS = [
  ["Approving and waiting", [
    { name: "dispatch_delay_seconds", label: "Undo window, in seconds", hint: "How long an approval can be taken back before anybody works.", from: 0, to: 900 },
    { name: "unclaimed_alert_seconds", label: "Alert for work that nobody takes, after seconds", hint: "Ready work that is older raises an alert.", from: 60, to: 604_800 },
    { name: "waiting_alert_seconds", label: "Alert for work that waits, after seconds", hint: "For its branches, or for an answer from outside.", from: 60, to: 604_800 },
    { name: "max_attempts", label: "Attempts", hint: "Lost claims and retryable failures, before a person decides.", from: 1, to: 20 },
  ]],
  ["Escalations", [
    { name: "handoff_window_days", label: "Window, in days", hint: "For the cap and for duplicates of a direction.", from: 1, to: 30 },
    { name: "escalation_cap", label: "Cap of a direction in the window", hint: "More is a manual review.", from: 1, to: 20 },
  ]],
  ["Loop guard", [
    { name: "max_depth", label: "Depth of a chain", hint: "Handoffs below each other.", from: 1, to: 50 },
    { name: "max_handoffs_per_workflow", label: "Handoffs of a workflow", hint: "All branches together.", from: 1, to: 500 },
    { name: "max_same_direction", label: "Times from one agent to the same other", hint: "Within one chain.", from: 1, to: 20 },
    { name: "ping_pong_window", label: "Handoffs looked at for back and forth", hint: "The last ones of a chain.", from: 4, to: 20 },
    { name: "root_handoffs_per_hour", label: "New workflows of one agent an hour", hint: "More are refused.", from: 1, to: 300 },
  ]],
  ["Rates", [
    { name: "requests_per_minute", label: "Requests of one caller a minute", hint: "More are 429, with a time to wait.", from: 60, to: 60_000 },
    { name: "kept_bytes_per_minute", label: "Bytes that one caller has kept a minute", hint: "Bodies that are stored.", from: 300_000, to: 1_000_000_000 },
    { name: "kept_bytes_per_claim", label: "Bytes that one claim has kept", hint: "Checkpoints and notes.", from: 1_000_000, to: 1_000_000_000 },
  ]],
];
