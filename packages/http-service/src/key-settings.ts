// Private keys among the settings: by value or by file; in development made at first use.

import { resolve } from 'node:path'
import type { SettingsReader } from './config.ts'
import type { Mode } from './http-settings.ts'
import { developmentSeed, isDevelopmentSeed, parseKeySeed } from './key-seeds.ts'
import { type GivenSecret, readSecret } from './secret-settings.ts'

export interface WantedKey {
  mode: Mode
  dataDir: string
  variable: string
  /** Of its file, where it is made. */
  name: string
}

export const NO_KEY = new Uint8Array()

export function readKey(settings: SettingsReader, { mode, dataDir, variable, name }: WantedKey): Uint8Array {
  const given = readSecret(settings, variable)
  if (!given) {
    if (mode === 'development') return developmentSeed(resolve(dataDir, 'keys'), name)
    settings.problem(`${variable} or ${variable}_FILE is missing: 64 hex characters, or a wallet's keypair file`)
    return NO_KEY
  }
  return parseSeed(settings, given, mode === 'production') ?? NO_KEY
}

/** The key where one is given. */
export function readOptionalKey(settings: SettingsReader, variable: string, isProduction: boolean): Uint8Array | null {
  const given = readSecret(settings, variable)
  return given && parseSeed(settings, given, isProduction)
}

function parseSeed(
  settings: SettingsReader,
  { text, variable }: GivenSecret,
  isProduction: boolean,
): Uint8Array | null {
  if (text === null) return null
  const seed = parseKeySeed(text)
  if (!seed) settings.problem(`${variable} does not hold a key: 64 hex characters, or a wallet's keypair`)
  if (seed && isProduction && isDevelopmentSeed(seed)) settings.problem(developmentKey(variable))
  return seed
}

export function developmentKey(variable: string): string {
  return `${variable} is a development key: anybody may have it. Make a new one for production`
}

/** One key for two purposes would let a signature of one kind pass for another. */
export function refuseSharedKeys(settings: SettingsReader, keys: [string, Uint8Array][]): void {
  for (const [i, [name, seed]] of keys.entries()) {
    for (const [otherName, other] of keys.slice(i + 1)) {
      if (seed.length > 0 && Buffer.from(seed).equals(other))
        settings.problem(`${name} and ${otherName} must be different keys`)
    }
  }
}
