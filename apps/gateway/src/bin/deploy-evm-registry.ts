// `svc-gateway deploy-evm-registry`: deploys a registry to the EVM chain with EVM_RPC_URLS and EVM_REGISTRY_KEY. Prints
// the setting with its address; everything else goes to standard error.

import { ROLES } from '@svc/api/networks'
import { createEvmAccount, type EvmAccount } from '@svc/payments/evm/account'
import { watchTransaction } from '@svc/payments/evm/outcome'
import { SettingsReader, type Variables } from '@svc/service/program/config'
import type { Address } from 'viem'
import { createEvmRegistry, prepareDeployment } from '../publication/evm-registry/client.ts'
import { readRegistryContract, readRegistryKey } from '../publication/evm-registry/settings.ts'
import { RENAMED_SETTINGS } from '../renamed-settings.ts'
import { SETTINGS } from '../settings.ts'

const COULD_NOT_RUN = 2
const TIMEOUT_MS = 60_000

export async function run(): Promise<void> {
  try {
    const { rpcUrls, privateKey, contract } = readSettings(process.env)
    if (contract) await requireOurs(rpcUrls, privateKey, contract)
    console.log(
      `EVM_REGISTRY_CONTRACT=${contract ?? (await deploy(createEvmAccount(ROLES.registry, rpcUrls, privateKey)))}`,
    )
  } catch (error) {
    console.error(advice(error))
    process.exitCode = COULD_NOT_RUN
  }
}

function readSettings(variables: Variables) {
  const settings = new SettingsReader(variables, SETTINGS, RENAMED_SETTINGS)
  const isProduction = settings.oneOf('SVC_MODE', ['production', 'development']) === 'production'
  const rpcUrls = settings.list('EVM_RPC_URLS')
  if (rpcUrls.length === 0)
    settings.problem(`EVM_RPC_URLS is missing: set it to URLs of nodes of chain ${ROLES.registry.chainId}`)
  const privateKey = readRegistryKey(settings, isProduction)
  if (!privateKey) settings.problem('EVM_REGISTRY_KEY or EVM_REGISTRY_KEY_FILE must contain the key that will write')
  const contract = readRegistryContract(settings)
  settings.done()
  return { rpcUrls, privateKey: privateKey as Uint8Array, contract } // without a key `done` throws
}

/** Prevents a second registry: receipts would be looked up in the wrong one. */
async function requireOurs(rpcUrls: string[], privateKey: Uint8Array, contract: Address): Promise<void> {
  const registry = createEvmRegistry({ rpcUrls, privateKey, contract })
  // Many contracts have an owner; only a registry answers this call.
  await registry.read('')
  if (!(await registry.isOwner())) {
    throw new Error(`EVM_REGISTRY_CONTRACT is a registry, and its owner is not EVM_REGISTRY_KEY (${registry.address}).`)
  }
  console.error('EVM_REGISTRY_CONTRACT is already a registry of this key. Nothing was deployed.')
}

async function deploy(account: EvmAccount): Promise<Address> {
  const { contract, ...signed } = await prepareDeployment(account)
  console.error(`Deploying the registry to ${contract} with ${signed.tx} of ${account.address}.`)
  if ((await account.send(signed.raw)) === 'nonce_taken') {
    throw new Error('Another transaction of this key came first. Nothing was deployed. Run this command again.')
  }
  const { outcome } = await watchTransaction(account, signed, TIMEOUT_MS)
  if (outcome === 'landed') return contract
  throw new Error(
    outcome === 'pending'
      ? `The chain does not show the transaction yet. Once ${signed.tx} is there, set EVM_REGISTRY_CONTRACT=${contract}.`
      : 'The transaction failed. Nothing was deployed.',
  )
}

function advice(error: unknown): string {
  const { why, message } = error as { why?: string; message: string }
  return why === 'unavailable'
    ? `EVM_RPC_URLS: no node of chain ${ROLES.registry.chainId} answers: ${message}`
    : message
}
