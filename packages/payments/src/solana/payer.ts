import { getU32Decoder, getU64Decoder } from '@solana/kit'
import type { SeenTransaction } from './seen-transaction.ts'

const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const TRANSFER = 2
const TRANSFER_BYTES = 12

/**
 * The one signer whose lamports fell by more than the fee. Where several accounts fell, or one that did not sign (a
 * relay paid rent, a token account was closed on the way), the one signer whose transfers make up all that arrived.
 */
export function solPayer(seen: SeenTransaction, payTo: string, received: bigint): string | null {
  const fallen = seen.accounts.filter(({ before, after }, index) => before - after > (index === 0 ? seen.fee : 0n))
  const bySource = onlySigner(seen, fallen, ({ address }) => address)
  if (bySource !== null) return bySource
  const transfers = transfersInto(seen, payTo)
  const sum = transfers.reduce((total, { lamports }) => total + lamports, 0n)
  return sum < received ? null : onlySigner(seen, transfers, ({ source }) => source)
}

/** The one owner of accounts of that mint whose balance fell. If only a delegate signed, there is no payer. */
export function tokenPayer(seen: SeenTransaction, mint: string): string | null {
  const fallen = seen.tokens.filter((token) => token.mint === mint && token.after < token.before)
  return onlySigner(seen, fallen, ({ owner }) => owner)
}

function onlySigner<T>(seen: SeenTransaction, sources: readonly T[], addressOf: (source: T) => string): string | null {
  const [only, ...others] = new Set(sources.map(addressOf))
  if (only === undefined || others.length > 0) return null
  return seen.accounts.some(({ address, signed }) => signed && address === only) ? only : null
}

function transfersInto({ instructions }: SeenTransaction, payTo: string) {
  return instructions.flatMap(({ program, accounts, data }) => {
    const [source, destination] = accounts
    if (program !== SYSTEM_PROGRAM || destination !== payTo || !source) return []
    if (data.length !== TRANSFER_BYTES || getU32Decoder().decode(data) !== TRANSFER) return []
    return [{ source, lamports: getU64Decoder().decode(data, 4) }]
  })
}
