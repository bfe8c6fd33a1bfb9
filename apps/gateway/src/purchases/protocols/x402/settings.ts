// Settings of x402: the keys that send signed payments and pay the network fees. A chain without a key takes none.

import type { SettingsReader } from '@svc/http-service/config'
import { readEvmKey } from '@svc/http-service/evm-keys'
import { readOptionalKey } from '@svc/http-service/keys'
import type { SalesConfig } from '@svc/payments/selling/settings'

export interface X402Config {
  /** Whether there is a key to send payments with. */
  isOpen: boolean
  /** Whether there is one for the EVM chain, where payments are authorizations that anybody may send. */
  takesAuthorizations: boolean
  /** How long a request waits for the chain before it answers that the payment is pending. */
  waitSeconds: number
}

export interface X402Secrets {
  svmFeePayerSeed: Uint8Array | null
  evmFacilitatorKey: Uint8Array | null
}

export function readX402Settings(
  settings: SettingsReader,
  chains: Pick<SalesConfig, 'primary' | 'evm'>,
  isProduction: boolean,
): [X402Config, X402Secrets] {
  const svmFeePayerSeed = readOptionalKey(settings, 'X402_SVM_FEE_PAYER_KEY', isProduction)
  const evmFacilitatorKey = readEvmKey(settings, 'X402_EVM_FACILITATOR_KEY', isProduction)
  if (svmFeePayerSeed && !chains.primary) settings.problem('X402_SVM_FEE_PAYER_KEY needs PRIMARY_RPC_URLS')
  if (evmFacilitatorKey && !chains.evm) settings.problem('X402_EVM_FACILITATOR_KEY needs EVM_RPC_URLS')
  const waitSeconds = settings.integer('X402_WAIT_SECONDS', 20, { min: 0, max: 300 })
  const isOpen = svmFeePayerSeed !== null || evmFacilitatorKey !== null
  return [
    { isOpen, takesAuthorizations: evmFacilitatorKey !== null, waitSeconds },
    { svmFeePayerSeed, evmFacilitatorKey },
  ]
}
