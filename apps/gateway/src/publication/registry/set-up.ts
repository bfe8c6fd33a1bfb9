// Sets up the attestation registry once: creates the gateway's credential and the schema of its statements.

import { ROLES } from '@svc/api/networks'
import { createSolanaNodes } from '@svc/payments/solana/nodes'
import { watchTransaction } from '@svc/payments/solana/outcome'
import { signTransaction } from '@svc/payments/solana/sign-transaction'
import { toBase58 } from '@svc/protocol/bytes'
import type { Ed25519Signer } from '@svc/protocol/keys'
import { REGISTRY_PROGRAM, type RegistryAddresses, registryAddresses } from '@svc/protocol/registry'
import { createCredential, createSchema } from './instructions.ts'

export interface SetUp extends RegistryAddresses {
  /** Null if both existed. */
  tx: string | null
}

const TIMEOUT_MS = 60_000

/** Creates what is missing in one transaction. It can be repeated and leaves existing accounts unchanged. */
export async function setUpRegistry(
  key: Ed25519Signer,
  credentialName: string,
  rpcUrls: readonly string[],
): Promise<SetUp> {
  const nodes = createSolanaNodes(ROLES.publication, rpcUrls)
  const signer = toBase58(key.publicKey)
  const addresses = registryAddresses(signer, credentialName)
  const parties = { ...addresses, signer }
  const exists = async (account: string) => (await nodes.account(account))?.owner === REGISTRY_PROGRAM
  const instructions = [
    ...((await exists(addresses.credential)) ? [] : [createCredential(parties, credentialName)]),
    ...((await exists(addresses.schema)) ? [] : [createSchema(parties)]),
  ]
  if (instructions.length === 0) return { ...addresses, tx: null }
  const signed = signTransaction(key, instructions, await nodes.lifetime())
  const { tx, raw } = signed
  const objection = await nodes.simulate(raw, { sigVerify: true })
  if (objection)
    throw new Error(`the chain would reject the transaction: ${objection}. Does ${signer} have enough lamports?`)
  await nodes.send(raw)
  const { outcome } = await watchTransaction(nodes, signed, TIMEOUT_MS)
  if (outcome !== 'landed')
    throw new Error(`transaction ${tx} is ${outcome}: run this command again to create what is missing`)
  return { ...addresses, tx }
}
