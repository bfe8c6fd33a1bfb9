// Reads settings from a record of variables. All problems are reported at once, and the names asked for are kept, so
// that a test can hold them against `.env.example`.

export type Variables = Readonly<Record<string, string | undefined>>

export class ConfigError extends Error {
  override name = 'ConfigError'

  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
  }
}

export class SettingsReader {
  readonly asked = new Map<string, string>()
  readonly #variables: Variables
  readonly #problems: string[] = []

  constructor(variables: Variables) {
    this.#variables = variables
  }

  /** The text of a variable; `fallback` where it is unset or empty. */
  text(name: string, fallback = ''): string {
    this.asked.set(name, fallback)
    return this.#variables[name] || fallback
  }

  integer(name: string, fallback: number, { min, max }: { min: number; max: number }): number {
    const text = this.text(name, String(fallback))
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    this.problem(`${name} must be an integer from ${min} to ${max}, not "${text}"`)
    return fallback
  }

  oneOf<const W extends string>(name: string, words: readonly W[], fallback: W): W {
    const text = this.text(name, fallback)
    const word = words.find((candidate) => candidate === text)
    if (word) return word
    this.problem(`${name} must be one of ${words.join(', ')}, not "${text}"`)
    return fallback
  }

  /** An http(s) address without a slash at its end. */
  url(name: string, fallback: string): string {
    const text = this.text(name, fallback)
    const parsed = URL.parse(text)
    if (parsed && /^https?:$/.test(parsed.protocol) && !parsed.search && !parsed.hash) return text.replace(/\/+$/, '')
    this.problem(`${name} must be an http or https address, not "${text}"`)
    return fallback
  }

  problem(description: string): void {
    this.#problems.push(description)
  }

  /** Throws one error that names every problem. */
  done(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems)
  }
}
