export type Nothing = Record<string, never>

/** Which kinds of jobs there are, and what each is told. */
export interface JobPayloads {
  'check-registration': { delegation_id: string }
  mirror: { delegation_id: string }
  watch: { delegation_id: string }
  tell: { delivery_id: string }
  'due-work': Nothing
  'forget-nonces': Nothing
  'forget-rate-limits': Nothing
  'forget-old': Nothing
}
