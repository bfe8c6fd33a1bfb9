import {
  AccountRole,
  type Address,
  type AddressesByLookupTableAddress,
  getAddressEncoder,
  getProgramDerivedAddress,
  getU64Encoder,
  type KeyPairSigner,
} from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { LOOKUP_TABLE_PROGRAM } from '@svc/devnet/primary-chain/timeline'
import type { Payments } from './payments.ts'

/** A table of addresses on chain. The program's client library does not go with this version of kit. */
export async function createLookupTable(
  payments: Payments,
  authority: KeyPairSigner,
  addresses: Address[],
): Promise<AddressesByLookupTableAddress> {
  const slot = getU64Encoder().encode(await payments.rpc.getSlot().send())
  const [table, bump] = await getProgramDerivedAddress({
    programAddress: LOOKUP_TABLE_PROGRAM,
    seeds: [getAddressEncoder().encode(authority.address), slot],
  })
  const entries = addresses.flatMap((address) => [...getAddressEncoder().encode(address)])
  await payments.send(
    authority,
    instruction([0, 0, 0, 0, ...slot, bump]),
    instruction([2, 0, 0, 0, ...getU64Encoder().encode(BigInt(addresses.length)), ...entries]),
  )
  return { [table]: addresses }

  function instruction(data: number[]) {
    const signer = { address: authority.address, role: AccountRole.WRITABLE_SIGNER, signer: authority } as const
    return {
      programAddress: LOOKUP_TABLE_PROGRAM,
      accounts: [
        { address: table, role: AccountRole.WRITABLE },
        signer,
        signer,
        { address: SYSTEM_PROGRAM_ADDRESS, role: AccountRole.READONLY },
      ],
      data: Uint8Array.from(data),
    }
  }
}
