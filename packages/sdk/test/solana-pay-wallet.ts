// For tests: a wallet that knows nothing of gateways and pays by the Solana Pay specification: a memo, then the
// transfer, which names the reference as one more account.

import { AccountRole, address, createSolanaRpc } from '@solana/kit'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import { findAssociatedTokenPda, getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { send, signerOf } from '@svc/devnet/primary-chain/dev-client'
import { atomicAmount } from '../src/money.ts'

/** Pays what the URL asks for, and returns the transaction. */
export async function paySolanaPayUrl(
  rpcUrl: string,
  payer: (typeof DEMO_PAYERS)[number],
  text: string,
): Promise<string> {
  const url = new URL(text)
  const given = (name: string) => url.searchParams.get(name) as string
  const recipient = address(url.pathname)
  const authority = await signerOf(payer)
  const accountOf = async (owner: typeof recipient) => {
    const mint = address(given('spl-token'))
    return (await findAssociatedTokenPda({ owner, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS }))[0]
  }
  const amount = (decimals: number) => atomicAmount(given('amount'), decimals) as bigint
  const transfer = url.searchParams.has('spl-token')
    ? getTransferCheckedInstruction({
        source: await accountOf(authority.address),
        mint: address(given('spl-token')),
        destination: await accountOf(recipient),
        authority,
        amount: amount(6),
        decimals: 6,
      })
    : getTransferSolInstruction({ source: authority, destination: recipient, amount: amount(9) })
  const reference = { address: address(given('reference')), role: AccountRole.READONLY }
  const memo = getAddMemoInstruction({ memo: given('memo') }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 })
  const named = { ...transfer, accounts: [...transfer.accounts, reference] }
  return send(createSolanaRpc(rpcUrl), authority, [memo, named])
}
