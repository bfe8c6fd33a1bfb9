import type { AccountMeta, Address } from '@solana/kit'
import { NodeProblem } from '../ask-nodes.ts'
import type { TransactionMeta } from './transaction-answer.ts'

export interface TokenChange {
  account: Address
  mint: string
  /** Before the transaction, where the account was there before. */
  owner: string
  before: bigint
  after: bigint
}

type TokenBalance = NonNullable<TransactionMeta['preTokenBalances']>[number]

/** What happened to each token account. One opened or closed by the transaction held nothing before or after. */
export function readTokenChanges(keys: readonly AccountMeta[], meta: TransactionMeta): TokenChange[] {
  const { preTokenBalances, postTokenBalances } = meta
  if (!preTokenBalances || !postTokenBalances) throw new NodeProblem('the transaction comes without token balances')
  const changes = new Map<string, TokenChange>()
  for (const balance of preTokenBalances) {
    const account = read(balance)
    changes.set(account.key, { ...account.named, before: account.amount, after: 0n })
  }
  for (const balance of postTokenBalances) {
    const account = read(balance)
    const known = changes.get(account.key)
    changes.set(account.key, { ...(known ?? { ...account.named, before: 0n }), after: account.amount })
  }
  return [...changes.values()]

  function read({ accountIndex, mint, owner, uiTokenAmount }: TokenBalance) {
    const account = keys[accountIndex]?.address
    const { amount } = uiTokenAmount
    if (!account || typeof mint !== 'string' || typeof owner !== 'string' || !/^\d{1,20}$/.test(amount))
      throw new NodeProblem('a token balance that is none')
    // An account may be closed and opened again for another mint: then it is another account.
    return { key: `${account} ${mint}`, named: { account, mint, owner }, amount: BigInt(amount) }
  }
}
