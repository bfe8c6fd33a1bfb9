// Private keys in the settings: given by value or by file, and in development created at first use.

import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fromBase58, fromHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import type { GivenSecret, Mode, SettingsReader } from './config.ts'

export interface WantedKey {
  mode: Mode
  dataDir: string
  variable: string
  /** The name of a development key's file. */
  name: string
}

export const NO_KEY = new Uint8Array()

export function readKey(settings: SettingsReader, { mode, dataDir, variable, name }: WantedKey): Uint8Array {
  const given = settings.secret(variable)
  if (!given) {
    if (mode === 'development') return developmentKeyFor(settings, dataDir, name)
    settings.problem(`${variable} or ${variable}_FILE is missing: 64 hex characters, or a wallet's keypair file`)
    return NO_KEY
  }
  return parseSeed(settings, given, mode === 'production') ?? NO_KEY
}

export function readOptionalKey(settings: SettingsReader, variable: string, isProduction: boolean): Uint8Array | null {
  const given = settings.secret(variable)
  return given && parseSeed(settings, given, isProduction)
}

function parseSeed(
  settings: SettingsReader,
  { text, variable }: GivenSecret,
  isProduction: boolean,
): Uint8Array | null {
  if (text === null) return null
  const seed = parseKeySeed(text)
  if (!seed) settings.problem(`${variable} does not contain a key: it must be 64 hex characters or a wallet's keypair`)
  if (seed && isProduction && isDevelopmentSeed(seed)) settings.problem(developmentKey(variable))
  return seed
}

export function developmentKey(variable: string): string {
  return `${variable} is a development key, which anyone may have: create a new one for production`
}

/** With one key for two purposes, a signature of one kind could pass as another. */
export function refuseSharedKeys(settings: SettingsReader, keys: [string, Uint8Array][]): void {
  for (const [i, [name, seed]] of keys.entries()) {
    for (const [otherName, other] of keys.slice(i + 1)) {
      if (seed.length > 0 && Buffer.from(seed).equals(other))
        settings.problem(`${name} and ${otherName} must be different keys`)
    }
  }
}

/**
 * A 32-byte seed from 64 hex characters, a wallet's JSON array of 64 bytes, or base58 of those; null for anything else.
 */
export function parseKeySeed(text: string): Uint8Array | null {
  const trimmed = text.trim()
  const seed = fromHex(trimmed.toLowerCase(), 32)
  if (seed) return seed
  const pair = trimmed.startsWith('[') ? fromJsonArray(trimmed) : fromBase58(trimmed, 64)
  return pair && seedOfPair(pair)
}

function fromJsonArray(text: string): Uint8Array | null {
  try {
    const numbers: unknown = JSON.parse(text)
    const isBytes = Array.isArray(numbers) && numbers.every((n) => Number.isInteger(n) && n >= 0 && n < 256)
    return isBytes && numbers.length === 64 ? Uint8Array.from(numbers) : null
  } catch {
    return null
  }
}

/** The second half must be the public key of the first: a mismatched pair was damaged or mistyped. */
function seedOfPair(pair: Uint8Array): Uint8Array | null {
  const seed = pair.slice(0, 32)
  return timingSafeEqual(ed25519Signer(seed).publicKey, pair.subarray(32)) ? seed : null
}

const RANDOM_BYTES = 28

/** The last four bytes are a checksum by which production recognises development keys. */
function newDevelopmentSeed(): Uint8Array {
  const random = randomBytes(RANDOM_BYTES)
  return Buffer.concat([random, developmentMark(random)])
}

function developmentMark(random: Uint8Array): Buffer {
  return createHash('sha256').update('svc-development-key').update(random).digest().subarray(0, 4)
}

const TEST_LABELS = ['statement', 'publication', 'short-url', 'owner', 'operator']
const LOCAL_CHAIN_LABELS = [
  'faucet',
  'mint-authority',
  'treasury',
  'agent-treasury',
  'publication',
  'payer/1',
  'payer/2',
  'payer/3',
  'payer/4',
]
const KNOWN_SEEDS = [
  ...TEST_LABELS.map((label) => `svc-test-key/${label}`),
  ...LOCAL_CHAIN_LABELS.map((label) => `svc-dev/${label}`),
].map((label) => createHash('sha256').update(label).digest())

/** True for keys made by `developmentSeed`, published in the test vectors, or used by the local primary chain. */
export function isDevelopmentSeed(seed: Uint8Array): boolean {
  const random = seed.subarray(0, RANDOM_BYTES)
  return developmentMark(random).equals(seed.subarray(RANDOM_BYTES)) || KNOWN_SEEDS.some((known) => known.equals(seed))
}

/** The key of the data folder; when settings are only checked, a temporary key. */
export function developmentKeyFor(settings: SettingsReader, dataDir: string, name: string): Uint8Array {
  return settings.isCheck ? newDevelopmentSeed() : developmentSeed(resolve(dataDir, 'keys'), name)
}

/** The development key of this name in the folder, created at first use. */
export function developmentSeed(folder: string, name: string): Uint8Array {
  return seedIn(join(folder, `${name}.development.key`), newDevelopmentSeed)
}

/** The key in a file, which is created at first use. */
export function seedIn(file: string, newSeed: () => Uint8Array = () => randomBytes(32)): Uint8Array {
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // Written under a temporary name first: other processes never see an incomplete key.
    const draft = `${file}.${randomUUID()}`
    writeFileSync(draft, `${Buffer.from(newSeed()).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
    try {
      linkSync(draft, file)
    } catch (error) {
      // Another process created it first: use that key.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      rmSync(draft)
    }
  }
  const seed = parseKeySeed(readFileSync(file, 'utf8'))
  if (!seed) throw new Error(`${file} does not contain a key: delete the file to get a new key`)
  return seed
}
