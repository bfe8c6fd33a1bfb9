import { AccountRole, address, type Instruction } from '@solana/kit'

/** The signer is named as an account, so that the memo program itself checks who signed. */
export function memoInstruction(memo: Uint8Array, memoProgram: string, signer: string): Instruction {
  return {
    programAddress: address(memoProgram),
    accounts: [{ address: address(signer), role: AccountRole.READONLY_SIGNER }],
    data: memo,
  }
}

const COMPUTE_BUDGET = address('ComputeBudget111111111111111111111111111111')
const SET_UNIT_PRICE = 3

/** The price of priority over other transactions. */
export function unitPriceInstruction(microLamports: number): Instruction {
  const data = Buffer.alloc(9)
  data.writeUInt8(SET_UNIT_PRICE)
  data.writeBigUInt64LE(BigInt(microLamports), 1)
  return { programAddress: COMPUTE_BUDGET, data }
}
