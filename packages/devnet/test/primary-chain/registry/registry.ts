import {
  type Address,
  fetchEncodedAccount,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  type ReadonlyUint8Array,
} from '@solana/kit'
import { DEFAULT_CREDENTIAL_NAME } from '@svc/protocol/registry'
import { getAttestationDecoder, getCredentialDecoder, getSchemaDecoder } from 'sas-lib'
import { DEMO_PAYERS, PUBLICATION } from '../../../src/primary-chain/dev-accounts.ts'
import { type Rpc, send, sign, signerOf, startTestChain } from '../../../src/primary-chain/dev-client.ts'
import type { PrimaryChainOptions } from '../../../src/primary-chain/start.ts'
import { createCredential, createSchema, type Deployment, deploymentOf } from './instructions.ts'

export const RENT_OF_ATTESTATION = 3_292_080n

export type TestRegistry = Awaited<ReturnType<typeof startTestRegistry>>

/** A chain whose transactions are final at once. `deploy` creates the credential and the schema. */
export async function startTestRegistry(options: Partial<PrimaryChainOptions> = {}) {
  const running = await startTestChain({ landing: 'at once', ...options })
  const { rpc } = running
  const authority = await signerOf(PUBLICATION)
  const attester = await signerOf(DEMO_PAYERS[0]!)

  /** Sends without a preflight, so that a failed transaction is on the chain too. */
  async function run(instructions: readonly Instruction[], options: Parameters<typeof send>[3] = {}) {
    return landed(rpc, await send(rpc, authority, [...instructions], { skipPreflight: true, ...options }))
  }

  return {
    ...running,
    authority,
    attester,
    run,
    async deploy(credentialName = DEFAULT_CREDENTIAL_NAME): Promise<Deployment> {
      const deployment = await deploymentOf(authority, credentialName)
      const signers = [authority.address, attester.address]
      const { err } = await run([createCredential(deployment, { signers }), createSchema(deployment)])
      if (err !== null) throw new Error('the credential and the schema could not be made', { cause: err })
      return deployment
    },
    async simulate(instructions: readonly Instruction[], watched: readonly Address[] = []) {
      const wire = getBase64EncodedWireTransaction(await sign(rpc, authority, [...instructions]))
      const accounts = { addresses: [...watched], encoding: 'base64' } as const
      return (await rpc.simulateTransaction(wire, { encoding: 'base64', accounts }).send()).value
    },
    exists: async (at: Address) => (await fetchEncodedAccount(rpc, at)).exists,
    credential: async (at: Address) => read(rpc, at, getCredentialDecoder()),
    schema: async (at: Address) => read(rpc, at, getSchemaDecoder()),
    attestation: async (at: Address) => read(rpc, at, getAttestationDecoder()),
  }
}

/** An account, with its fields as the registry's own client reads them. */
async function read<T>(rpc: Rpc, at: Address, decoder: { decode(bytes: ReadonlyUint8Array): T }) {
  const account = await fetchEncodedAccount(rpc, at)
  if (!account.exists) throw new Error(`there is no account ${at}`)
  return { ...account, fields: decoder.decode(account.data) }
}

const NOTHING_LOADED = { writable: [], readonly: [] }

async function landed(rpc: Rpc, signature: Awaited<ReturnType<typeof send>>) {
  const found = await rpc.getTransaction(signature, { encoding: 'json', maxSupportedTransactionVersion: 0 }).send()
  if (!found?.meta) throw new Error('the transaction did not land')
  const { meta, transaction } = found
  const { writable, readonly } = 'loadedAddresses' in meta ? meta.loadedAddresses : NOTHING_LOADED
  const keys = [...transaction.message.accountKeys, ...writable, ...readonly]
  const changes = keys.map((key, index) => [key, meta.postBalances[index]! - meta.preBalances[index]!] as const)
  return {
    ...meta,
    /** The change of each balance that changed. */
    changes: Object.fromEntries(changes.filter(([, change]) => change !== 0n)),
  }
}

export function feePaidBy(payer: KeyPairSigner, signatures = 1) {
  return { [payer.address]: BigInt(-5_000 * signatures) }
}

export function custom(code: number) {
  return { Custom: BigInt(code) }
}

export function failedAt(index: number, cause: unknown) {
  return { InstructionError: [BigInt(index), cause] }
}
