import { quantity, record } from '@svc/payments/evm/rpc-values'
import { readBlock, readReceipt } from '@svc/payments/evm/seen-transaction'
import { numberToHex } from 'viem'
import type { EvmAccount, SignedTransaction } from './account.ts'
import { rejectAsTrouble } from './trouble.ts'

/** What became of a transaction that was, or may have been, sent. */
export type Fate =
  | { is: 'landed'; block: number; fee_wei: bigint }
  /** It is in a block and did nothing but cost its fee. */
  | { is: 'failed'; block: number; fee_wei: bigint }
  /** It is nowhere, and its number is taken. */
  | { is: 'never' }
  /** It was not seen, or in a block that may still go. Sending it again does no harm. */
  | { is: 'may_come' }

type AnyCall = { Method: string; Parameters: unknown[]; ReturnType: unknown }

/** Only what is final counts: it never has to be taken back. */
export async function fateOf(account: EvmAccount, { tx, raw }: SignedTransaction): Promise<Fate> {
  // Asked first: what lands between the two questions is seen by the second.
  const canStillCome = await account.canStillCome(raw)
  return readFate().catch(rejectAsTrouble)

  async function readFate(): Promise<Fate> {
    const answer = await ask('eth_getTransactionReceipt', [tx])
    if (answer === null) return { is: canStillCome ? 'may_come' : 'never' }
    const { blockNumber, blockHash, failed } = readReceipt(tx, answer)
    const { gasUsed, effectiveGasPrice } = record(answer)
    if (blockNumber > (await block('finalized')).number) return { is: 'may_come' }
    // A node that has not followed the chain yet tells of a block that is no more.
    if ((await block(numberToHex(blockNumber))).hash !== blockHash) return { is: 'may_come' }
    const fee_wei = quantity(gasUsed) * quantity(effectiveGasPrice)
    return { is: failed ? 'failed' : 'landed', block: Number(blockNumber), fee_wei }
  }

  function ask(method: string, params: unknown[]): Promise<unknown> {
    return account.client.request<AnyCall>({ method, params })
  }

  async function block(which: string) {
    return readBlock(await ask('eth_getBlockByNumber', [which, false]))
  }
}
