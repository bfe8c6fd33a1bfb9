// Publishes a statement in the attestation registry: the transaction of its memo also writes an account
// (`chain_sas_v1`).

import type { Anchor } from '@svc/api/attestations'
import type { AccountOnChain, SolanaNodes } from '@svc/payments/solana/nodes'
import { toBase58 } from '@svc/protocol/bytes'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import {
  attestationAddress,
  encodeRecord,
  REGISTRY_PROGRAM,
  registryAddresses,
  registryNonce,
  registryRecord,
} from '@svc/protocol/registry'
import { NotPublished } from '../errors.ts'
import type { AnchorInstructions } from '../memo.ts'
import type { RegistryConfig } from '../settings.ts'
import { closeAttestation, createAttestation, SYSTEM_PROGRAM } from './instructions.ts'

/** Adds the instructions of the registry to those of the memo. */
export type AddRegistry = (envelope: EvidenceEnvelope, memo: AnchorInstructions) => Promise<AnchorInstructions>

export function createRegistryWriter(
  nodes: SolanaNodes,
  { mode, lifetimeSeconds, credentialName }: RegistryConfig,
  signer: string,
): AddRegistry {
  const addresses = registryAddresses(signer, credentialName)
  const parties = { ...addresses, signer }
  let isSetUp = false

  async function requireSetUp(): Promise<void> {
    const accounts = await Promise.all([nodes.account(addresses.credential), nodes.account(addresses.schema)])
    isSetUp = accounts.every((account) => account?.owner === REGISTRY_PROGRAM)
    if (isSetUp) return
    throw new NotPublished(
      'registry_not_set_up',
      'the registry has no credential or schema of this gateway: run svc-gateway set-up-registry once',
      { isRetryable: false },
    )
  }

  return async (envelope, memo) => {
    if (!isSetUp) await requireSetUp()
    const { body } = envelope
    const nonce = registryNonce(body.proof_id, mode === 'latest' ? undefined : body.snapshot_id)
    const attestation = attestationAddress(addresses, nonce)
    const exists = isAttestation(await nodes.account(attestation))
    // A snapshot is written once; a later statement about it gets only a memo.
    if (exists && mode === 'per_snapshot') return memo
    const expiry = lifetimeSeconds === 0 ? 0 : body.issued_at_unix + lifetimeSeconds
    const data = encodeRecord(registryRecord(envelope))
    const sas: NonNullable<Anchor['sas']> = {
      program: REGISTRY_PROGRAM,
      credential: addresses.credential,
      schema: addresses.schema,
      nonce: toBase58(nonce),
      attestation,
      mode,
      replaced_previous: exists,
    }
    return {
      type: 'chain_sas_v1',
      instructions: [
        ...memo.instructions,
        ...(exists ? [closeAttestation(parties, attestation)] : []),
        createAttestation(parties, { attestation, nonce, data, expiry }),
      ],
      sas,
      // A replaced account returns its rent.
      deposit: exists ? 0 : rentOf(data),
    }
  }
}

/** The fields of an attestation besides its data, including the length of the data. */
const ATTESTATION_BYTES = 1 + 32 + 32 + 32 + 4 + 32 + 8 + 32
/** What the chain charges for each account in addition to its bytes, and for each byte. */
const ACCOUNT_BYTES = 128
const LAMPORTS_PER_BYTE = 6960

function rentOf(data: Uint8Array): number {
  return (ACCOUNT_BYTES + ATTESTATION_BYTES + data.length) * LAMPORTS_PER_BYTE
}

/** An account that holds only coins counts as free: anyone can send coins to any address. */
function isAttestation(account: AccountOnChain | null): boolean {
  if (!account || (account.owner === SYSTEM_PROGRAM && account.data.length === 0)) return false
  if (account.owner === REGISTRY_PROGRAM) return true
  throw new NotPublished('registry_account_foreign', `the account belongs to ${account.owner}`, { isRetryable: false })
}
