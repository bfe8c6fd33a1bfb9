// Keys that send x402 payments for their payers and pay the network fees. A chain without one takes no such payments.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SettingsReader } from '@svc/http-service/config'
import { isDevelopmentSeed, parseKeySeed } from '@svc/http-service/key-seeds'
import type { PaymentConfig } from './payment-settings.ts'

export interface X402Config {
  /** How long a buyer waits for the chain before he is told that his payment is still on its way. */
  waitSeconds: number
}

export interface X402Secrets {
  svmFeePayerSeed: Uint8Array | null
  evmFacilitatorKey: Uint8Array | null
}

export function readX402Settings(
  settings: SettingsReader,
  chains: Pick<PaymentConfig, 'primary' | 'evm'>,
  isProduction: boolean,
): [X402Config, X402Secrets] {
  const svmFeePayerSeed = readKey(settings, 'X402_SVM_FEE_PAYER_KEY')
  const evmFacilitatorKey = readKey(settings, 'X402_EVM_FACILITATOR_KEY')
  if (svmFeePayerSeed && !chains.primary) settings.problem('X402_SVM_FEE_PAYER_KEY needs PRIMARY_RPC_URLS')
  if (evmFacilitatorKey && !chains.evm) settings.problem('X402_EVM_FACILITATOR_KEY needs EVM_RPC_URLS')
  for (const key of [svmFeePayerSeed, evmFacilitatorKey]) {
    if (isProduction && key && isKnownToEverybody(key))
      settings.problem('an X402 key is a development key: anybody may have it. Make a new one for production')
  }
  const waitSeconds = settings.integer('X402_WAIT_SECONDS', 20, { min: 0, max: 300 })
  return [{ waitSeconds }, { svmFeePayerSeed, evmFacilitatorKey }]
}

function readKey(settings: SettingsReader, variable: string): Uint8Array | null {
  const text = settings.text(variable)
  const file = settings.text(`${variable}_FILE`)
  if (!text && !file) return null
  const key = parseKeySeed((text || readKeyFile(settings, `${variable}_FILE`, file)).trim().replace(/^0x/, ''))
  if (!key) settings.problem(`${text ? variable : `${variable}_FILE`} does not hold a key: 64 hex characters`)
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

/** How the keys of the development mnemonic begin that every EVM tool knows. */
const MNEMONIC_KEYS = 'ac0974be 59c6995e 5de4111a 7c852118 47e179ec 8b3a350c 92db14e4 4bbbf85c dbda1821 2a871d07'
const LOCAL_CHAIN_LABELS = [
  'faucet',
  'mint-authority',
  'treasury',
  'publication',
  'payer/1',
  'payer/2',
  'payer/3',
  'payer/4',
]

function isKnownToEverybody(key: Uint8Array): boolean {
  const seed = Buffer.from(key)
  return (
    isDevelopmentSeed(seed) ||
    MNEMONIC_KEYS.split(' ').includes(seed.toString('hex', 0, 4)) ||
    LOCAL_CHAIN_LABELS.some((label) => createHash('sha256').update(`svc-dev/${label}`).digest().equals(seed))
  )
}
