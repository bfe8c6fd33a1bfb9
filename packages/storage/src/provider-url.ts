// One URL configures a provider: its address, its credentials, and options after the question mark. It is a secret, so
// problems name the wrong part and never show the URL.

import { type Range, readInteger, type SettingsReader } from '@svc/service/program/config'

export interface ProviderUrl {
  url: URL
  /** The name of a part in problems: `GCS: redirect`. */
  name(part: string): string
  /** The value of an option, or its default. */
  option(word: string, fallback?: string): string
  /** All values of an option that may be repeated. */
  options(word: string): string[]
  integer(word: string, fallback: number, range: Range): number
  oneOf<const W extends string>(word: string, words: readonly W[]): W
  /** A secret by value, or from the file in its `_file` option. Null when it is not given or cannot be read. */
  secret(word: string): string | null
  problem(part: string, meaning: string): void
}

export interface UrlForm {
  setting: string
  /** The beginning of the URL, such as `s3:`. */
  schemes: readonly string[]
  /** An example of the whole URL. */
  example: string
  /** All known options; null when others are passed on. */
  words: readonly string[] | null
}

/** Null when the setting is empty or has a problem. */
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
      settings.problem(`${setting} has an option that is not one of ${words.join(', ')}`)
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
      if (file && option(word)) settings.problem(`${name(word)} and ${word}_file are both given: remove one of them`)
      return option(word) || (file ? settings.file(name(`${word}_file`), file) : null)
    },
  }
}

/**
 * Plain HTTP carries credentials and the bytes of files, so it must stay on this machine or on its own network, where
 * names without a dot are: other containers beside this one.
 */
export function isSafeAddress({ protocol, hostname }: { protocol: string; hostname: string }): boolean {
  if (protocol === 'https:') return true
  return (
    protocol === 'http:' && (hostname === '127.0.0.1' || hostname === '[::1]' || /^[a-z][a-z0-9_-]*$/.test(hostname))
  )
}

/** A part of a URL before `@` or between slashes. Unescaped `%` stays. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
