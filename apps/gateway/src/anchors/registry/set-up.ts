// The one-time set-up of the attestation registry: the gateway's credential and the schema of its statements.

import { toBase58 } from '@svc/protocol/bytes'
import type { Ed25519Signer } from '@svc/protocol/keys'
import { REGISTRY_PROGRAM, type RegistryAddresses, registryAddresses } from '@svc/protocol/registry'
import { createPublicationNodes } from '../publication-nodes.ts'
import { watchTransaction } from '../settle.ts'
import { signTransaction } from '../sign-transaction.ts'
import { createCredential, createSchema } from './instructions.ts'

export interface SetUp extends RegistryAddresses {
  /** Null when all of it was there. */
  tx: string | null
}

const WAIT_SECONDS = 60

/** Makes what is missing, in one transaction. */
export async function setUpRegistry(
  key: Ed25519Signer,
  credentialName: string,
  rpcUrls: readonly string[],
): Promise<SetUp> {
  const nodes = createPublicationNodes(rpcUrls)
  const signer = toBase58(key.publicKey)
  const addresses = registryAddresses(signer, credentialName)
  const parties = { ...addresses, signer }
  const isThere = async (account: string) => (await nodes.account(account))?.owner === REGISTRY_PROGRAM
  const instructions = [
    ...((await isThere(addresses.credential)) ? [] : [createCredential(parties, credentialName)]),
    ...((await isThere(addresses.schema)) ? [] : [createSchema(parties)]),
  ]
  if (instructions.length === 0) return { ...addresses, tx: null }
  const { tx, raw, lastValidHeight } = signTransaction(key, instructions, await nodes.lifetime())
  const objection = await nodes.objection(raw)
  if (objection) throw new Error(`the chain would refuse it: ${objection}. Does ${signer} hold enough lamports?`)
  await nodes.send(raw)
  const fate = await watchTransaction(nodes, { tx, raw, last_valid_height: lastValidHeight }, WAIT_SECONDS)
  if (fate.is !== 'landed') throw new Error(`transaction ${tx} is ${fate.is}: run this again, it makes what is missing`)
  return { ...addresses, tx }
}
