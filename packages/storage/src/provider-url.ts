// One URL says everything about a provider: where it is, its credentials, and options behind the question mark. It is a
// secret, so problems name the part that is wrong and never show the URL.

import { type Range, readInteger, type SettingsReader } from '@svc/service/program/config'

export interface ProviderUrl {
  url: URL
  /** Names a part in problems: `GCS: redirect`. */
  name(part: string): string
  /** An option; its default when it is not given. */
  option(word: string, fallback?: string): string
  /** All values of an option that may be given more than once. */
  options(word: string): string[]
  integer(word: string, fallback: number, range: Range): number
  oneOf<const W extends string>(word: string, words: readonly W[]): W
  /** By value, or with `_file` behind its name the file that holds it. Null when it is not given or cannot be read. */
  secret(word: string): string | null
  problem(part: string, meaning: string): void
}

export interface UrlForm {
  setting: string
  /** How it begins, as in `s3:`. */
  schemes: readonly string[]
  /** What to write. */
  example: string
  /** The options that there are; null where others are passed on. */
  words: readonly string[] | null
}

/** Null when the setting is empty, or has a problem. */
export function openProviderUrl(settings: SettingsReader, form: UrlForm): ProviderUrl | null {
  const { setting, schemes, example, words } = form
  const text = settings.text(setting)
  if (text === '') return null
  const url = URL.parse(text)
  if (!url || !schemes.includes(url.protocol) || url.hash) {
    settings.problem(`${setting} must be ${example}, with special characters percent-encoded`)
    return null
  }
  for (const word of url.searchParams.keys()) {
    if (words && !words.includes(word) && !words.includes(word.replace(/_file$/, '')))
      settings.problem(`${setting} has an option that is none of ${words.join(', ')}`)
  }
  const name = (part: string) => `${setting}: ${part}`
  const option = (word: string, fallback = '') => url.searchParams.get(word) || fallback
  const problem = (part: string, meaning: string) => settings.problem(`${name(part)} must be ${meaning}`)
  return {
    url,
    name,
    option,
    problem,
    options: (word) => url.searchParams.getAll(word),
    integer: (word, fallback, range) => readInteger(settings, name(word), option(word, String(fallback)), range),
    oneOf<const W extends string>(word: string, choices: readonly W[]): W {
      const found = choices.find((choice) => choice === option(word, choices[0]))
      if (!found) problem(word, `one of ${choices.join(', ')}`)
      return found ?? (choices[0] as W)
    },
    secret(word) {
      const file = option(`${word}_file`)
      if (file && option(word)) settings.problem(`${name(word)} and ${word}_file are both given: leave one of them out`)
      return option(word) || (file ? settings.file(name(`${word}_file`), file) : null)
    },
  }
}

/**
 * Plain HTTP carries credentials and the bytes of files, so it must stay on this machine or on its own network, where a
 * name without a dot leads: that of a container beside this one.
 */
export function isSafeAddress({ protocol, hostname }: { protocol: string; hostname: string }): boolean {
  if (protocol === 'https:') return true
  return (
    protocol === 'http:' && (hostname === '127.0.0.1' || hostname === '[::1]' || /^[a-z][a-z0-9_-]*$/.test(hostname))
  )
}

/** The part of a URL that stands before `@` or between slashes. Unescaped `%` stays. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
