// Sets up the registries of both chains when a development environment starts, as an operator does once.

import { createEvmAccount } from '@svc/chains/evm/account'
import { CHAIN_ID, DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import type { LocalChains } from '@svc/devnet/local-chains'
import { prepareDeployment } from '@svc/gateway/anchors/evm-registry/client'
import { setUpRegistry } from '@svc/gateway/anchors/registry/set-up'
import { readConfig } from '@svc/gateway/config'
import type { Variables } from '@svc/http-service/config'
import { ed25519Signer } from '@svc/protocol/keys'
import { type Address, getContractAddress, hexToBytes } from 'viem'

/** Owns the EVM registry. The last of the payers sends x402 payments. */
const OWNER = DEV_PAYERS.at(-2)!

/** Reuses the registries of an earlier start. Returns the settings of a gateway that uses them. */
export async function setUpRegistries(chains: LocalChains, variables: Variables): Promise<Variables> {
  const { config, secrets } = readConfig({ ...variables, ...chains.variables })
  const { credentialName } = config.anchors.registry
  await setUpRegistry(ed25519Signer(secrets.publicationSeed), credentialName, [chains.primary.url])
  return { EVM_REGISTRY_CONTRACT: await evmRegistry(chains.evm.url), EVM_REGISTRY_KEY: OWNER.privateKey }
}

async function evmRegistry(rpcUrl: string): Promise<Address> {
  const account = createEvmAccount({ chainId: CHAIN_ID, name: 'local' }, [rpcUrl], hexToBytes(OWNER.privateKey))
  const first = getContractAddress({ from: OWNER.address, nonce: 0n })
  if (await account.client.getCode({ address: first })) return first
  const { raw, contract } = await prepareDeployment(account)
  await account.send(raw)
  return contract
}
