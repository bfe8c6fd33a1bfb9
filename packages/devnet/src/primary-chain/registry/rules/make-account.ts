import { type DerivedAddress, REGISTRY } from '../derived-address.ts'
import type { Surroundings } from '../instruction.ts'
import type { Code } from '../program/assembler.ts'
import { createAccount, writeData } from '../program/effects.ts'
import type { ProgramAccount } from '../program/memory.ts'

/** A new account of the registry that holds `data`; its rent comes from `payer`. */
export function makeAccount(
  payer: ProgramAccount,
  account: ProgramAccount,
  { seeds }: DerivedAddress,
  data: Uint8Array,
  { rentFor }: Surroundings,
): Code {
  const space = data.length
  return [
    ...createAccount({ payer, account, owner: REGISTRY, seeds, space, rent: rentFor(space) }),
    ...writeData(account, data),
  ]
}
