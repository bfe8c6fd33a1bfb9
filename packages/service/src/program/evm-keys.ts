// Keys of EVM chains, from a variable or from the file that its `_FILE` variable names.

import { fromHex } from '@svc/protocol/bytes'
import { evmAddressOf } from '@svc/protocol/keys'
import type { SettingsReader } from './config.ts'
import { developmentKey, isDevelopmentSeed } from './keys.ts'

export function readEvmKey(settings: SettingsReader, variable: string, isProduction: boolean): Uint8Array | null {
  const given = settings.secret(variable)
  if (!given || given.text === null) return null
  const key = parseEvmKey(given.text)
  if (!key) settings.problem(`${given.variable} does not contain a key: it must be 64 hex characters`)
  if (isProduction && key && isPublished(key)) settings.problem(developmentKey(variable))
  return key
}

function parseEvmKey(text: string): Uint8Array | null {
  const key = fromHex(text.trim().toLowerCase().replace(/^0x/, ''), 32)
  try {
    return key && evmAddressOf(key) ? key : null
  } catch {
    return null // Not every number of 32 bytes is a key of this curve.
  }
}

/** The first bytes of the development mnemonic's keys, which every EVM tool knows. */
const MNEMONIC_KEYS = 'ac0974be 59c6995e 5de4111a 7c852118 47e179ec 8b3a350c 92db14e4 4bbbf85c dbda1821 2a871d07'

function isPublished(key: Uint8Array): boolean {
  return isDevelopmentSeed(key) || MNEMONIC_KEYS.split(' ').includes(Buffer.from(key).toString('hex', 0, 4))
}
