// A key of the EVM chain, from a variable or from the file that another names.

import { readFileSync } from 'node:fs'
import type { SettingsReader } from '@svc/http-service/config'
import { isDevelopmentSeed } from '@svc/http-service/key-seeds'
import { fromHex } from '@svc/protocol/bytes'
import { evmAddressOf } from '@svc/protocol/keys'

export function readEvmKey(settings: SettingsReader, variable: string, isProduction: boolean): Uint8Array | null {
  const fileVariable = `${variable}_FILE`
  const text = settings.text(variable)
  const file = settings.text(fileVariable)
  if (!text && !file) return null
  const key = parseEvmKey(text || readKeyFile(settings, fileVariable, file))
  if (!key) settings.problem(`${text ? variable : fileVariable} does not hold a key: 64 hex characters`)
  if (isProduction && key && isKnownToEverybody(key))
    settings.problem(`${variable} is a development key: anybody may have it. Make a new one for production`)
  return key
}

function readKeyFile(settings: SettingsReader, variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    settings.problem(`${variable} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
    return ''
  }
}

function parseEvmKey(text: string): Uint8Array | null {
  const key = fromHex(text.trim().toLowerCase().replace(/^0x/, ''), 32)
  try {
    return key && evmAddressOf(key) ? key : null
  } catch {
    return null // Not every number of 32 bytes is a key of this curve.
  }
}

/** How the keys of the development mnemonic begin that every EVM tool knows. */
const MNEMONIC_KEYS = 'ac0974be 59c6995e 5de4111a 7c852118 47e179ec 8b3a350c 92db14e4 4bbbf85c dbda1821 2a871d07'

function isKnownToEverybody(key: Uint8Array): boolean {
  return isDevelopmentSeed(key) || MNEMONIC_KEYS.split(' ').includes(Buffer.from(key).toString('hex', 0, 4))
}
