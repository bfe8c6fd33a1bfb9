// Private keys as people hold them, and development keys that production can recognise.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromBase58, fromHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'

/** A 32-byte seed from 64 hex characters, a wallet's JSON array of 64 bytes, or base58 of those; null for anything else. */
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

/** The second half must be the public key of the first: a pair that disagrees was damaged or mistyped. */
function seedOfPair(pair: Uint8Array): Uint8Array | null {
  const seed = pair.slice(0, 32)
  return timingSafeEqual(ed25519Signer(seed).publicKey, pair.subarray(32)) ? seed : null
}

const RANDOM_BYTES = 28

/** The last four bytes are a checksum, so that a development key is known for one wherever it turns up. */
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

/** Made by `developmentSeed`, published in the test vectors, or of the local primary chain. */
export function isDevelopmentSeed(seed: Uint8Array): boolean {
  const random = seed.subarray(0, RANDOM_BYTES)
  return developmentMark(random).equals(seed.subarray(RANDOM_BYTES)) || KNOWN_SEEDS.some((known) => known.equals(seed))
}

/** The development key of this name under the folder, made at first use. */
export function developmentSeed(folder: string, name: string): Uint8Array {
  const file = join(folder, `${name}.development.key`)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    try {
      writeFileSync(file, `${Buffer.from(newDevelopmentSeed()).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
    } catch (error) {
      // Another process made it first: its key is the one.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  const seed = parseKeySeed(readFileSync(file, 'utf8'))
  if (!seed) throw new Error(`${file} does not hold a key: delete it to get a new one`)
  return seed
}
