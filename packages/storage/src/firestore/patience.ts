/** How long the provider is waited for. */
export interface Patience {
  /** For one step, from connecting to the last byte of the answer: a chunk in or out, or less. */
  answerMs: number
  /** For an answer that is of use only soon. */
  briefMs: number
  /** How often a step is tried. */
  attempts: number
  /** Before the second try; four times as long before each further one. */
  backoffMs: number
}

export const PATIENCE: Patience = { answerMs: 20_000, briefMs: 5000, attempts: 3, backoffMs: 250 }
