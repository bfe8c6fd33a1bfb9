// Settings of the EVM registry: its address and the key of its owner. Without them nothing is written to it.

import { ROLES } from '@svc/api/networks'
import { type SalesConfig, settingsOf } from '@svc/payments/selling/settings'
import type { SettingsReader } from '@svc/service/program/config'
import { readEvmKey } from '@svc/service/program/evm-keys'
import type { Address } from 'viem'

export interface EvmRegistryConfig {
  contract: Address
}

export interface EvmRegistrySecrets {
  evmRegistryKey: Uint8Array | null
}

export function readEvmRegistrySettings(
  settings: SettingsReader,
  { chains }: Pick<SalesConfig, 'chains'>,
  isProduction: boolean,
): [EvmRegistryConfig | null, EvmRegistrySecrets] {
  const contract = readRegistryContract(settings)
  const evmRegistryKey = readRegistryKey(settings, isProduction)
  if (Boolean(contract) !== Boolean(evmRegistryKey)) {
    settings.problem(
      'EVM_REGISTRY_CONTRACT and EVM_REGISTRY_KEY belong together: set both or neither. ' +
        'To deploy the contract, set the key alone and run svc-gateway deploy-evm-registry',
    )
  }
  if (evmRegistryKey && !chains.has(ROLES.registry))
    settings.problem(`EVM_REGISTRY_KEY requires ${settingsOf(ROLES.registry)[0]}: set both or neither`)
  return [contract && { contract }, { evmRegistryKey }]
}

export function readRegistryKey(settings: SettingsReader, isProduction: boolean): Uint8Array | null {
  return readEvmKey(settings, 'EVM_REGISTRY_KEY', isProduction)
}

export function readRegistryContract(settings: SettingsReader): Address | null {
  const text = settings.text('EVM_REGISTRY_CONTRACT')
  if (!text) return null
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) settings.problem(`EVM_REGISTRY_CONTRACT is not an address: "${text}"`)
  return text as Address // matches the pattern above, or the settings are rejected
}
