export type Nothing = Record<string, never>

/** The kinds of jobs and their payloads. Both are stored in the queue: do not rename them. */
export interface JobPayloads {
  attest: { receipt_id: string }
  push: { receipt_id: string }
  bridge: { receipt_id: string }
  'bridge-retry': Nothing
  'attest-payment': { receipt_id: string }
  'finalize-upload': { session_id: string }
  'settle-object': { object_id: string }
  'drop-staged': { object_id: string }
  'cron-attest': Nothing
  'watch-publications': Nothing
  'anchor-log': Nothing
  'resume-settlements': Nothing
  'watch-payments': Nothing
  'forget-nonces': Nothing
  'forget-rate-limits': Nothing
  'resume-finalizations': Nothing
  'forget-spending': Nothing
  'sweep-sessions': Nothing
  'sweep-objects': Nothing
  'sweep-quotes': Nothing
  'sweep-s3-keys': Nothing
  'forget-dead-jobs': Nothing
  'sweep-settling': Nothing
  'count-sales': Nothing
  'sample-growth': Nothing
}
