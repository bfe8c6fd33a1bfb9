// Reads settings from a record of variables, and those that every service has. All problems are reported at once. The
// reader keeps the names it was asked for, so that a test can compare them with `.env.example`.

import { Resolver } from 'node:dns'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import type { LogLevel } from './log.ts'

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

  /** The text of a variable, or `fallback` when it is unset or empty. */
  text(name: string, fallback = ''): string {
    this.asked.set(name, fallback)
    return this.#variables[name] || fallback
  }

  /** The entries of a list with commas between, without the spaces around them. */
  list(name: string, fallback = ''): string[] {
    const entries = this.text(name, fallback).split(',')
    return entries.map((entry) => entry.trim()).filter((entry) => entry !== '')
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

  /** An http(s) address without a trailing slash. */
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

export interface GivenSecret {
  /** Null when the file cannot be read, which has been reported. */
  text: string | null
  /** The variable it came from. */
  variable: string
}

/** A secret by value, or from the file that a second variable names. Null when neither is set. No problem quotes it. */
export function readSecret(settings: SettingsReader, variable: string): GivenSecret | null {
  const text = settings.text(variable)
  const fileVariable = `${variable}_FILE`
  const file = settings.text(fileVariable)
  if (text && file) settings.problem(`${variable} and ${fileVariable} are both set: leave one of them out`)
  if (text) return { text, variable }
  return file ? { text: readSecretFile(settings, fileVariable, file), variable: fileVariable } : null
}

function readSecretFile(settings: SettingsReader, variable: string, name: string): string | null {
  // In full: what cannot be read is often a name that was meant for another working directory.
  const file = resolve(name)
  try {
    if (isReadableByOthers(file)) settings.problem(`${variable} can be read by others: chmod 600 ${file}`)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    settings.problem(`${variable} cannot be read: ${(error as Error).message}`)
    return null
  }
}

/** A group may read what belongs to another user: orchestrators hand secrets of root to a service by its group. */
function isReadableByOthers(file: string): boolean {
  const { mode, uid } = statSync(file)
  const isOwn = uid === process.getuid?.()
  return process.platform !== 'win32' && (mode & (isOwn ? 0o077 : 0o007)) !== 0
}

export type Mode = 'development' | 'production'

export interface HttpSettings {
  host: string
  port: number
  /** The public address, which all URLs in responses begin with. */
  baseUrl: string
  trustedProxies: string[]
  /** How many requests one process works on at once; 0 for no limit. */
  maxRequestsAtOnce: number
}

export function readHttpSettings(settings: SettingsReader, mode: Mode, defaultPort: number): HttpSettings {
  const port = settings.integer('PORT', defaultPort, { min: 0, max: 65_535 })
  return {
    host: settings.text('HOST', '0.0.0.0'),
    port,
    baseUrl: baseUrl(settings, mode, port),
    trustedProxies: trustedProxies(settings),
    maxRequestsAtOnce: settings.integer('MAX_REQUESTS_AT_ONCE', 256, { min: 0, max: 1_000_000 }),
  }
}

export function readLogSettings(settings: SettingsReader): { level: LogLevel } {
  return { level: settings.oneOf('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info') }
}

/** The name servers that are asked for hosts that customers name; empty for those of the system. */
export function readDnsServers(settings: SettingsReader): string[] {
  const list = settings.list('DNS_SERVERS')
  try {
    new Resolver().setServers(list)
  } catch {
    settings.problem('DNS_SERVERS must be addresses, each with or without a port, with commas between')
  }
  return list
}

function baseUrl(settings: SettingsReader, mode: Mode, port: number): string {
  if (mode === 'production' && settings.text('BASE_URL') === '') {
    settings.problem('BASE_URL must be the public address of this service: it stands in every URL it hands out')
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
  if (!list.every(isNetwork)) settings.problem('TRUSTED_PROXIES must be addresses or networks with commas between')
  return list
}
