// The registry tells of a closed attestation by calling itself: what it says then stays readable in the transaction.

import type { Address, ReadonlyUint8Array } from '@solana/kit'
import { sizedBytes } from './accounts.ts'
import { addressBytes, deriveAddress, REGISTRY } from './derived-address.ts'
import { type Code, exit, ifByte, ifBytes } from './program/assembler.ts'
import { invoke } from './program/invoke.ts'
import { FIELDS, FIRST_ACCOUNT, type ProgramAccount } from './program/memory.ts'

/** Nobody but the registry can sign for this address. */
export const EVENT_AUTHORITY = deriveAddress('__event_authority')
const EVENT_TAG = Buffer.from('e445a52e51cb9a1d', 'hex')
const ATTESTATION_CLOSED = 0

export function tellOfClosed(eventAuthority: ProgramAccount, schema: Address, data: ReadonlyUint8Array): Code {
  const event = [EVENT_TAG, Uint8Array.of(ATTESTATION_CLOSED), addressBytes(schema), sizedBytes().encode(data)]
  return invoke({
    program: REGISTRY,
    accounts: [{ account: eventAuthority, signer: true, writable: false }],
    data: Buffer.concat(event.map((part) => Uint8Array.from(part))),
    seeds: EVENT_AUTHORITY.seeds,
  })
}

/** How the registry takes its own call: it looks who signed, and that is all. */
export function takeOwnEvent(): Code {
  const [key, signer] = [FIRST_ACCOUNT + FIELDS.address, FIRST_ACCOUNT + FIELDS.signer]
  return ifBytes(key, addressBytes(EVENT_AUTHORITY.address), ifByte(signer, exit(0n)))
}
