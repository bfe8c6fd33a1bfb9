// Settings of a service: declared in one table each, read from a record of variables. All problems are reported
// together.

import { Resolver } from 'node:dns'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import type { LogLevel } from './log.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** In the order in which an admin meets them. */
export const GROUPS = ['must set', 'should look at', 'providers', 'tuning'] as const

export interface Setting {
  group: (typeof GROUPS)[number]
  /** One sentence. */
  help: string
  /** The default text of an unset or empty variable. */
  default?: string
  /** A secret NAME may also be given as NAME_FILE, the name of a file that contains it. No problem quotes it. */
  isSecret?: true
}

/** Every setting of a service by its name. */
export type Settings = Readonly<Record<string, Setting>>

/** Replacements of removed settings: old name → the new one, and how to write its value. */
export type Renamed = Readonly<Record<string, string>>

export class ConfigError extends Error {
  override name = 'ConfigError'

  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
  }
}

export class SettingsReader {
  /** The names that were read. */
  readonly namesRead = new Set<string>()
  readonly #variables: Variables
  readonly #declared: Settings
  readonly #problems: string[] = []
  readonly #files = new Map<string, string | null>()
  /** Whether settings are only checked: then nothing is written, not even a development key. */
  readonly isCheck: boolean

  constructor(variables: Variables, declared: Settings, renamed: Renamed = {}, { isCheck = false } = {}) {
    this.isCheck = isCheck
    this.#variables = variables
    this.#declared = declared
    for (const [name, advice] of Object.entries(renamed)) {
      const given = [name, `${name}_FILE`].find((variable) => variables[variable] && !this.#isKnown(variable))
      if (given) this.problem(`${given} is no longer a setting: ${advice}`)
    }
  }

  #isKnown(variable: string): boolean {
    const { [variable.replace(/_FILE$/, '')]: secret } = this.#declared
    return variable in this.#declared || (variable.endsWith('_FILE') && secret?.isSecret === true)
  }

  /** The text of a setting, or its default when it is unset or empty. */
  text(name: string): string {
    const { default: fallback = '', isSecret } = this.#setting(name)
    return (isSecret ? this.secret(name)?.text : this.#variables[name]) || fallback
  }

  defaultOf(name: string): string {
    return this.#setting(name).default ?? ''
  }

  /** A secret by value, or from the file that NAME_FILE names. Null when neither is set. */
  secret(name: string): GivenSecret | null {
    if (!this.#setting(name).isSecret) throw new Error(`${name} is not declared as a secret`)
    const text = this.#variables[name]
    const variable = `${name}_FILE`
    const file = this.#variables[variable]
    if (text) {
      if (file) this.problem(`${name} and ${variable} are both set: remove one of them`)
      return { text, variable: name }
    }
    return file ? { text: this.file(variable, file), variable } : null
  }

  /** The text of a file that holds a secret. Null when it cannot be read, which is a problem of `variable`. */
  file(variable: string, name: string): string | null {
    const read = this.#files.get(name)
    if (read !== undefined) return read
    const text = readSecretFile(this, variable, name)
    this.#files.set(name, text)
    return text
  }

  /** The comma-separated entries of a list, trimmed. */
  list(name: string): string[] {
    return entriesOf(this.text(name))
  }

  integer(name: string, range: Range): number {
    return readInteger(this, name, this.text(name), range)
  }

  oneOf<const W extends string>(name: string, words: readonly W[]): W {
    const text = this.text(name)
    const word = words.find((candidate) => candidate === text)
    if (word) return word
    this.problem(`${name} must be one of ${words.join(', ')}, not "${text}"`)
    return words[0] as W
  }

  flag(name: string): boolean {
    return this.oneOf(name, ['true', 'false']) === 'true'
  }

  /** Comma-separated `key=value` entries. A missing key has its default; `keys` are all known keys. */
  pairs<const K extends string>(name: string, keys: readonly K[]): Map<K, string[]> {
    return new Map([...this.#pairsOf(name, keys, this.defaultOf(name)), ...this.#pairsOf(name, keys, this.text(name))])
  }

  /** A word, optionally followed by `key=value` entries. */
  choice<const W extends string, const K extends string>(
    name: string,
    words: readonly W[],
    keys: readonly K[],
  ): [W, Map<K, string[]>] {
    const [text = '', ...rest] = this.list(name)
    const word = words.find((candidate) => candidate === text)
    if (!word) this.problem(`${name} must begin with one of ${words.join(', ')}, not "${text}"`)
    return [word ?? (words[0] as W), this.#pairsOf(name, keys, rest.join(','))]
  }

  #pairsOf<const K extends string>(name: string, keys: readonly K[], text: string): Map<K, string[]> {
    const { isSecret } = this.#setting(name)
    const pairs = new Map<K, string[]>()
    for (const entry of entriesOf(text)) {
      const at = entry.indexOf('=')
      const key = keys.find((candidate) => candidate === entry.slice(0, at).trim())
      const value = entry.slice(at + 1).trim()
      if (key && value) pairs.set(key, [...(pairs.get(key) ?? []), value])
      else this.problem(`${name} has ${isSecret ? 'an entry' : `"${entry}"`} that is not one of ${formOf(keys)}`)
    }
    return pairs
  }

  /** An http(s) address without a trailing slash; empty when the setting is. */
  url(name: string, fallback = ''): string {
    const text = this.text(name) || fallback
    const parsed = URL.parse(text)
    if (text === '' || (parsed && /^https?:$/.test(parsed.protocol) && !parsed.search && !parsed.hash))
      return text.replace(/\/+$/, '')
    this.problem(`${name} must be an http or https address, not "${text}"`)
    return fallback
  }

  problem(description: string): void {
    this.#problems.push(description)
  }

  problems(): string[] {
    return [...new Set(this.#problems)]
  }

  /** Throws one error that lists every problem. */
  done(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.problems())
  }

  #setting(name: string): Setting {
    this.namesRead.add(name)
    const setting = this.#declared[name]
    if (!setting) throw new Error(`${name} is not declared as a setting of this service`)
    return setting
  }
}

export interface Range {
  min: number
  max: number
}

/** `what` names the setting, or a part of it. */
export function readInteger(settings: SettingsReader, what: string, text: string, { min, max }: Range): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  settings.problem(`${what} must be an integer from ${min} to ${max}, not "${text}"`)
  return min
}

function entriesOf(text: string): string[] {
  const entries = text.split(',').map((entry) => entry.trim())
  return entries.filter((entry) => entry !== '')
}

function formOf(keys: readonly string[]): string {
  return keys.map((key) => `${key}=…`).join(', ')
}

export interface GivenSecret {
  /** Null when the file cannot be read; that problem is already reported. */
  text: string | null
  /** The variable that it came from. */
  variable: string
}

function readSecretFile(settings: SettingsReader, variable: string, name: string): string | null {
  // The full path: an unreadable name was often meant for another working directory.
  const file = resolve(name)
  try {
    if (isReadableByOthers(file)) settings.problem(`${variable} can be read by others: chmod 600 ${file}`)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    // A name this long is not a name but the secret itself.
    const isTooLong = (error as NodeJS.ErrnoException).code === 'ENAMETOOLONG'
    const why = isTooLong ? 'write the name of a file, not what is in it' : (error as Error).message
    settings.problem(`${variable} cannot be read: ${why}`)
    return null
  }
}

/** A group may read another user's file: orchestrators pass root's secrets to a service through its group. */
function isReadableByOthers(file: string): boolean {
  const { mode, uid } = statSync(file)
  const isOwn = uid === process.getuid?.()
  return process.platform !== 'win32' && (mode & (isOwn ? 0o077 : 0o007)) !== 0
}

export type Mode = 'development' | 'production'

export interface HttpSettings {
  host: string
  port: number
  /** The public address, with which all URLs in responses begin. */
  baseUrl: string
  trustedProxies: string[]
  /** The number of requests that one process runs at once; 0 for no limit. */
  maxRequestsAtOnce: number
}

/** For every service that listens. */
export const HTTP_SETTINGS = {
  BASE_URL: {
    group: 'must set',
    help: 'Public address of this service, the beginning of every URL that it returns; in development http://localhost and the port',
  },
  HOST: { group: 'should look at', default: '0.0.0.0', help: 'Address to listen on; npm start uses 127.0.0.1' },
  PORT: { group: 'should look at', help: 'Port to listen on' },
  TRUSTED_PROXIES: {
    group: 'should look at',
    help: 'Reverse proxies whose X-Forwarded-For is trusted: addresses or networks (10.0.0.0/8), separated by commas',
  },
  MAX_REQUESTS_AT_ONCE: {
    group: 'tuning',
    default: '256',
    help: 'How many requests of the last second one process works on at once; beyond it, and sooner when it falls behind, requests are answered 503 overloaded; 0 for no limit',
  },
} as const satisfies Settings

export function readHttpSettings(settings: SettingsReader, mode: Mode): HttpSettings {
  const port = settings.integer('PORT', { min: 0, max: 65_535 })
  return {
    host: settings.text('HOST'),
    port,
    baseUrl: baseUrl(settings, mode, port),
    trustedProxies: trustedProxies(settings),
    maxRequestsAtOnce: settings.integer('MAX_REQUESTS_AT_ONCE', { min: 0, max: 1_000_000 }),
  }
}

export const LOG_SETTINGS = {
  LOG_LEVEL: { group: 'tuning', default: 'info', help: 'How much to log: debug, info, warn, error or silent' },
} as const satisfies Settings

export function readLogSettings(settings: SettingsReader): { level: LogLevel } {
  return { level: settings.oneOf('LOG_LEVEL', ['info', 'debug', 'warn', 'error', 'silent']) }
}

export const DNS_SETTINGS = {
  DNS_SERVERS: {
    group: 'tuning',
    help: "Name servers that resolve hosts from customers' URLs: addresses, separated by commas; when empty, those of the system",
  },
} as const satisfies Settings

/** The name servers that resolve hosts from customers' URLs; empty for those of the system. */
export function readDnsServers(settings: SettingsReader): string[] {
  const list = settings.list('DNS_SERVERS')
  try {
    new Resolver().setServers(list)
  } catch {
    settings.problem('DNS_SERVERS must be addresses, each with or without a port, separated by commas')
  }
  return list
}

function baseUrl(settings: SettingsReader, mode: Mode, port: number): string {
  if (mode === 'production' && settings.text('BASE_URL') === '') {
    settings.problem('BASE_URL must be the public address of this service: every URL that it returns begins with it')
  }
  return settings.url('BASE_URL', `http://localhost:${port}`)
}

function trustedProxies(settings: SettingsReader): string[] {
  const list = settings.list('TRUSTED_PROXIES')
  const isNetwork = (text: string) => {
    const [address = '', bits, ...rest] = text.split('/')
    const family = isIP(address)
    return (
      family > 0 &&
      rest.length === 0 &&
      (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32)))
    )
  }
  if (!list.every(isNetwork)) settings.problem('TRUSTED_PROXIES must be addresses or networks, separated by commas')
  return list
}
