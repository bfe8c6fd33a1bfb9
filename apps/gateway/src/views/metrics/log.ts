import type { Family } from './text.ts'

/** The progress of the log, and the status of its witnesses and anchors. */
export interface LogStatus {
  /** How many entries are published. */
  size: number
  /** How many entries are not published yet. */
  waiting: number
  /** `problem`: null while the witness answers. */
  witnesses: { name: string; problem: string | null }[]
  /** How late the next anchor is; null if checkpoints are not anchored. */
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
      help: 'Whether a witness has cosigned the last checkpoint that it was asked to cosign.',
      samples: witnesses.map(({ name, problem }) => ({ labels: { witness: name }, value: problem === null ? 1 : 0 })),
    },
    {
      name: 'svc_log_anchor_overdue_seconds',
      type: 'gauge',
      help: 'How late the next anchor of the log is; 0 if checkpoints are not anchored.',
      samples: [{ value: overdueSeconds ?? 0 }],
    },
  ]
}
