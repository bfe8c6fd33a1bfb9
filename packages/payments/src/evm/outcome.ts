import { numberToHex } from 'viem'
import { type Outcome, watchOutcome } from '../transactions.ts'
import type { EvmAccount, SignedTransaction } from './account.ts'
import { EvmError, rejectAsEvmError } from './errors.ts'
import { quantity, readBlock, readReceipt, record } from './rpc-answers.ts'

/** Its block, and its cost. */
interface Mined {
  block: number
  fee_wei: bigint
}

export type EvmOutcome = Outcome<Mined, Mined>

type AnyCall = { Method: string; Parameters: unknown[]; ReturnType: unknown }

/**
 * Only a final result counts: it never has to be revised. `expired` means that another transaction has used its nonce,
 * finally.
 */
export async function outcomeOf(account: EvmAccount, signed: SignedTransaction): Promise<EvmOutcome> {
  const { tx } = signed
  return readOutcome().catch(rejectAsEvmError)

  async function readOutcome(): Promise<EvmOutcome> {
    const answer = await ask('eth_getTransactionReceipt', [tx])
    if (answer === null) return { outcome: (await account.isLost(signed)) ? 'expired' : 'pending' }
    const { blockNumber, blockHash, failed } = readReceipt(tx, answer)
    const { gasUsed, effectiveGasPrice } = record(answer)
    if (blockNumber > (await block('finalized')).number) return { outcome: 'pending' }
    // A node that has not followed a reorganization may report a block that is gone.
    if ((await block(numberToHex(blockNumber))).hash !== blockHash) return { outcome: 'pending' }
    const fee_wei = quantity(gasUsed) * quantity(effectiveGasPrice)
    return { outcome: failed ? 'failed' : 'landed', block: Number(blockNumber), fee_wei }
  }

  function ask(method: string, params: unknown[]): Promise<unknown> {
    return account.client.request<AnyCall>({ method, params })
  }

  async function block(which: string) {
    return readBlock(await ask('eth_getBlockByNumber', [which, false]))
  }
}

/** `pending` also while no node answers: a sent transaction may still have landed. */
export function watchTransaction(
  account: EvmAccount,
  signed: SignedTransaction,
  timeoutMs: number,
): Promise<EvmOutcome> {
  return watchOutcome<EvmOutcome>({ ask, resend: () => account.send(signed.raw), timeoutMs })

  async function ask(): Promise<EvmOutcome> {
    try {
      return await outcomeOf(account, signed)
    } catch (error) {
      if (error instanceof EvmError) return { outcome: 'pending' }
      throw error
    }
  }
}
