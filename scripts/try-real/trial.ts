import type { SettingsReader } from '@svc/service/program/config'

/** Reads settings, and may query the service. Spends nothing and changes nothing. */
export type Trial = (settings: SettingsReader) => Promise<Plan>

interface Plan {
  /** Where it runs, and what it does there. */
  about: string[]
  /** At most, in words; null when it costs nothing and changes nothing. */
  costs: string | null
  /** Throws when something is not as it must be. */
  run(passed: (sentence: string) => void): Promise<void>
}

/** The service, or our code, does not do what it must. The message is all there is to say. */
export class TrialFailed extends Error {
  override name = 'TrialFailed'
}

export function requireThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new TrialFailed(otherwise)
}
