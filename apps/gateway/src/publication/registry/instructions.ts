// Instructions of the attestation registry and the accounts that they use.

import { type AccountMeta, AccountRole, address, type Instruction } from '@solana/kit'
import { concat, fromBase58, utf8 } from '@svc/protocol/bytes'
import { lengthPrefixed, u32 } from '@svc/protocol/little-endian'
import { REGISTRY_SCHEMA_NAME } from '@svc/protocol/names'
import {
  closeInstructionData,
  createInstructionData,
  REGISTRY_LAYOUT,
  REGISTRY_PROGRAM,
  type RegistryAddresses,
} from '@svc/protocol/registry'

export const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const SCHEMA_DESCRIPTION = 'What a storage locker holds, as its gateway has stated it'

/** `signer`: the publication key, which pays and is the authority of the credential. */
interface Parties extends RegistryAddresses {
  signer: string
}

interface NewAttestation {
  attestation: string
  nonce: Uint8Array
  data: Uint8Array
  expiry: number
}

export function createAttestation(parties: Parties, { attestation, nonce, data, expiry }: NewAttestation): Instruction {
  const { signer, credential, schema } = parties
  return registryInstruction(createInstructionData(nonce, data, expiry), [
    payer(signer),
    authority(signer),
    readonly(credential),
    readonly(schema),
    writable(attestation),
    readonly(SYSTEM_PROGRAM),
  ])
}

export function closeAttestation({ signer, credential, eventAuthority }: Parties, attestation: string): Instruction {
  return registryInstruction(closeInstructionData(), [
    payer(signer),
    authority(signer),
    readonly(credential),
    writable(attestation),
    readonly(eventAuthority),
    readonly(SYSTEM_PROGRAM),
    readonly(REGISTRY_PROGRAM),
  ])
}

export function createCredential({ signer, credential }: Parties, name: string): Instruction {
  const data = concat(Uint8Array.of(0), text(name), u32(1), fromBase58(signer, 32) as Uint8Array)
  return registryInstruction(data, [payer(signer), writable(credential), authority(signer), readonly(SYSTEM_PROGRAM)])
}

export function createSchema({ signer, credential, schema }: Parties): Instruction {
  const layout = REGISTRY_LAYOUT.map(([, code]) => code)
  const names = REGISTRY_LAYOUT.map(([name]) => text(name))
  const data = concat(
    Uint8Array.of(1),
    text(REGISTRY_SCHEMA_NAME),
    text(SCHEMA_DESCRIPTION),
    lengthPrefixed(Uint8Array.from(layout)),
    u32(names.length),
    ...names,
  )
  return registryInstruction(data, [
    payer(signer),
    authority(signer),
    readonly(credential),
    writable(schema),
    readonly(SYSTEM_PROGRAM),
  ])
}

function registryInstruction(data: Uint8Array, accounts: AccountMeta[]): Instruction {
  return { programAddress: address(REGISTRY_PROGRAM), accounts, data }
}

const text = (value: string) => lengthPrefixed(utf8(value))
const meta = (account: string, role: AccountRole): AccountMeta => ({ address: address(account), role })
const payer = (account: string) => meta(account, AccountRole.WRITABLE_SIGNER)
const authority = (account: string) => meta(account, AccountRole.READONLY_SIGNER)
const writable = (account: string) => meta(account, AccountRole.WRITABLE)
const readonly = (account: string) => meta(account, AccountRole.READONLY)
