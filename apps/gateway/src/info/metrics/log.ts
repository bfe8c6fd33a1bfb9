import type { Family } from './text.ts'

/** How the log stands with those who vouch for it. */
export interface LogStanding {
  /** `problem`: null while the witness answers. */
  witnesses: { name: string; problem: string | null }[]
  /** How late the next anchor is; null where checkpoints are not anchored. */
  overdueSeconds: number | null
}

export function logFamilies({ witnesses, overdueSeconds }: LogStanding): Family[] {
  return [
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
