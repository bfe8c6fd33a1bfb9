import type { Family } from './text.ts'

/** How far the log is, and how it stands with those who vouch for it. */
export interface LogStatus {
  /** How many entries are published. */
  size: number
  /** How many are not yet. */
  waiting: number
  /** `problem`: null while the witness answers. */
  witnesses: { name: string; problem: string | null }[]
  /** How late the next anchor is; null where checkpoints are not anchored. */
  overdueSeconds: number | null
}

export function logFamilies({ size, waiting, witnesses, overdueSeconds }: LogStatus): Family[] {
  return [
    { name: 'svc_log_entries', type: 'gauge', help: 'Entries of the published log.', samples: [{ value: size }] },
    {
      name: 'svc_log_waiting_entries',
      type: 'gauge',
      help: 'Statements that the published log does not have yet.',
      samples: [{ value: waiting }],
    },
    {
      name: 'svc_log_witness_up',
      type: 'gauge',
      help: 'Whether a witness has cosigned what it was asked to last.',
      samples: witnesses.map(({ name, problem }) => ({ labels: { witness: name }, value: problem === null ? 1 : 0 })),
    },
    {
      name: 'svc_log_anchor_overdue_seconds',
      type: 'gauge',
      help: 'How late the next anchor of the log is; 0 where checkpoints are not anchored.',
      samples: [{ value: overdueSeconds ?? 0 }],
    },
  ]
}
