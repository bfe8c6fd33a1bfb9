// Sets up the registries of both chains when a development environment starts, as an admin does once.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { ROLES } from '@svc/api/networks'
import { readConfig } from '@svc/gateway/config'
import { prepareDeployment } from '@svc/gateway/publication/evm-registry/client'
import { setUpRegistry } from '@svc/gateway/publication/registry/set-up'
import { createEvmAccount } from '@svc/payments/evm/account'
import { ed25519Signer } from '@svc/protocol/keys'
import type { Variables } from '@svc/service/program/config'
import { type Address, getContractAddress, hexToBytes } from 'viem'
import { DEV_PAYERS } from '../evm-chain/dev-accounts.ts'
import type { LocalChains } from '../local-chains.ts'

/** Owns the EVM registry. The last of the payers sends x402 payments. */
const OWNER = DEV_PAYERS.at(-2)!

/** Reuses the registries of an earlier start. Returns the settings of a gateway that uses them. */
export async function setUpRegistries(
  chains: LocalChains,
  variables: Variables,
  stateFolder: string,
): Promise<Variables> {
  const { config, secrets } = readConfig({ ...variables, ...chains.variables })
  const { credentialName } = config.anchors.registry
  const [contract] = await Promise.all([
    knownEvmRegistry(chains.evm, `${stateFolder}/evm-registry.json`),
    setUpRegistry(ed25519Signer(secrets.publicationSeed), credentialName, [chains.primary.url]),
  ])
  return { EVM_REGISTRY_CONTRACT: contract, EVM_REGISTRY_KEY: OWNER.privateKey }
}

interface KnownRegistry {
  genesis_time: number
  contract: Address
}

/** Kept in a file, because the chain answers only once it has rebuilt all of its blocks. */
async function knownEvmRegistry({ chain, url }: LocalChains['evm'], file: string): Promise<Address> {
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as KnownRegistry) : null // written below
  if (known?.genesis_time === chain.genesisTime) return known.contract
  await chain.replayed
  const contract = await evmRegistry(url)
  writeFileSync(file, JSON.stringify({ genesis_time: chain.genesisTime, contract } satisfies KnownRegistry))
  return contract
}

async function evmRegistry(rpcUrl: string): Promise<Address> {
  const account = createEvmAccount(ROLES.registry, [rpcUrl], hexToBytes(OWNER.privateKey))
  const first = getContractAddress({ from: OWNER.address, nonce: 0n })
  if (await account.client.getCode({ address: first })) return first
  const { raw, contract } = await prepareDeployment(account)
  await account.send(raw)
  return contract
}
