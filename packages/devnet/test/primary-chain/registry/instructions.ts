// Instructions for the registry. The registry's client library makes them; our codec makes those called `own`.

import { hash } from 'node:crypto'
import {
  type AccountMeta,
  AccountRole,
  type Address,
  address,
  getAddressDecoder,
  type Instruction,
  type TransactionSigner,
} from '@solana/kit'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import {
  attestationAddress,
  closeInstructionData,
  createInstructionData,
  encodeRecord,
  REGISTRY_LAYOUT,
  REGISTRY_PROGRAM,
  type RegistryRecord,
  registryAddresses,
  registryNonce,
} from '@svc/protocol/registry'
import {
  type CloseAttestationInput,
  type CreateAttestationInput,
  type CreateCredentialInput,
  type CreateSchemaInput,
  deriveAttestationPda,
  deriveCredentialPda,
  deriveSchemaPda,
  getCloseAttestationInstruction,
  getCreateAttestationInstruction,
  getCreateCredentialInstruction,
  getCreateSchemaInstruction,
} from 'sas-lib'

const SCHEMA_NAME = 'svc.content.v2'

export interface Deployment {
  readonly authority: TransactionSigner
  readonly name: string
  readonly credential: Address
  readonly schema: Address
}

export async function deploymentOf(authority: TransactionSigner, name: string): Promise<Deployment> {
  const [credential] = await deriveCredentialPda({ authority: authority.address, name })
  const [schema] = await deriveSchemaPda({ credential, name: SCHEMA_NAME, version: 1 })
  return { authority, name, credential, schema }
}

/** What an attestation is about, and where it goes. */
export interface Subject {
  readonly record: RegistryRecord
  readonly nonce: Address
  readonly attestation: Address
}

export async function subjectOf({ credential, schema }: Deployment, label: string): Promise<Subject> {
  const record: RegistryRecord = {
    proof_id: hash('sha256', label).slice(0, 32),
    snapshot_id: 'a1'.repeat(32),
    statement_digest: 'b2'.repeat(32),
    merkle_root: 'c3'.repeat(32),
    file_count: 3,
    sequence: 1,
    issued_at: 1_788_000_000,
    issuer_key_id: 'ed25519:3b96e8a182bab9c6',
  }
  const nonce = getAddressDecoder().decode(registryNonce(record.proof_id))
  const [attestation] = await deriveAttestationPda({ credential, schema, nonce })
  return { record, nonce, attestation }
}

export function createCredential(deployment: Deployment, changes: Partial<CreateCredentialInput> = {}): Instruction {
  const { authority, credential, name } = deployment
  const signers = [authority.address]
  return getCreateCredentialInstruction({ payer: authority, authority, credential, name, signers, ...changes })
}

export function createSchema(deployment: Deployment, changes: Partial<CreateSchemaInput> = {}): Instruction {
  const { authority, credential, schema } = deployment
  return getCreateSchemaInstruction({
    payer: authority,
    authority,
    credential,
    schema,
    name: SCHEMA_NAME,
    description: 'What a locker holds',
    layout: Uint8Array.from(REGISTRY_LAYOUT, ([, code]) => code),
    fieldNames: REGISTRY_LAYOUT.map(([field]) => field),
    ...changes,
  })
}

export function create(
  { authority, credential, schema }: Deployment,
  { nonce, attestation, record }: Subject,
  changes: Partial<CreateAttestationInput> = {},
): Instruction {
  const accounts = { payer: authority, authority, credential, schema, attestation }
  return getCreateAttestationInstruction({ ...accounts, nonce, data: encodeRecord(record), expiry: 0n, ...changes })
}

export function close(
  { authority, credential }: Deployment,
  { attestation }: Subject,
  changes: Partial<CloseAttestationInput> = {},
): Instruction {
  return getCloseAttestationInstruction({ payer: authority, authority, credential, attestation, ...changes })
}

/** Made by our codec; `expiry` is in Unix seconds. */
export function ownCreate(authority: TransactionSigner, record: RegistryRecord, expiry: number): Instruction {
  const { credential, schema } = registryAddresses(authority.address)
  const nonce = registryNonce(record.proof_id)
  return {
    programAddress: address(REGISTRY_PROGRAM),
    accounts: [
      ...payerAndAuthority(authority),
      ...[credential, schema].map(readonlyAccount),
      ownAttestation(authority, record),
      readonlyAccount(SYSTEM_PROGRAM_ADDRESS),
    ],
    data: createInstructionData(nonce, encodeRecord(record), expiry),
  }
}

export function ownClose(authority: TransactionSigner, record: RegistryRecord): Instruction {
  const { credential, eventAuthority } = registryAddresses(authority.address)
  return {
    programAddress: address(REGISTRY_PROGRAM),
    accounts: [
      ...payerAndAuthority(authority),
      readonlyAccount(credential),
      ownAttestation(authority, record),
      ...[eventAuthority, SYSTEM_PROGRAM_ADDRESS, REGISTRY_PROGRAM].map(readonlyAccount),
    ],
    data: closeInstructionData(),
  }
}

function payerAndAuthority(signer: TransactionSigner) {
  const { address } = signer
  return [
    { address, role: AccountRole.WRITABLE_SIGNER, signer },
    { address, role: AccountRole.READONLY_SIGNER, signer },
  ] as const
}

function ownAttestation(authority: TransactionSigner, record: RegistryRecord) {
  const at = attestationAddress(registryAddresses(authority.address), registryNonce(record.proof_id))
  return { address: address(at), role: AccountRole.WRITABLE }
}

function readonlyAccount(at: string) {
  return { address: address(at), role: AccountRole.READONLY }
}

export function unitLimit(units: number): Instruction {
  const data = Buffer.alloc(5, 2)
  data.writeUInt32LE(units, 1)
  return { programAddress: address('ComputeBudget111111111111111111111111111111'), data }
}

export function memo(text: string): Instruction {
  return getAddMemoInstruction({ memo: text }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 })
}

/** The same instruction with another account at one position. */
export function withAccount(instruction: Instruction, position: number, account: AccountMeta): Instruction {
  return { ...instruction, accounts: instruction.accounts!.with(position, account) }
}
