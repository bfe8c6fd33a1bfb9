// An account of the gateway on the EVM chain: its transactions are signed first, noted by who sends them, then sent.

import { EVM } from '@svc/payments/networks'
import { type Address, formatEther, type Hex, keccak256, parseTransaction, TransactionNotFoundError, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { connectEvm } from './connect.ts'
import { answerOf, EvmTrouble, rejectAsTrouble } from './trouble.ts'

/** How long we know better than a node how many transactions we have sent. */
const SENT_LATELY_MS = 10_000

/** Without `to` it makes a contract. */
export interface Call {
  to?: Address
  data: Hex
}

export interface Costs {
  gas: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

export interface SignedTransaction {
  tx: Hex
  /** Complete: it can be sent again as it is. */
  raw: Hex
}

export type EvmAccount = ReturnType<typeof createEvmAccount>

export function createEvmAccount(rpcUrls: readonly string[], privateKey: Uint8Array, timeoutMs?: number) {
  const account = privateKeyToAccount(toHex(privateKey))
  const { address } = account
  const client = connectEvm(rpcUrls, account, timeoutMs)
  let next = { number: 0, until: 0 }

  /** A node may take a transaction and not get to say so. Where nobody can tell, it may be there. */
  async function mayBeKnown(tx: Hex): Promise<boolean> {
    try {
      await client.getTransaction({ hash: tx })
      return true
    } catch (error) {
      return !(error instanceof TransactionNotFoundError)
    }
  }

  return {
    address,
    client,

    balance: (): Promise<bigint> => client.getBalance({ address }).catch(rejectAsTrouble),

    /** Also whether we can afford it. Nodes do not look at the balance before the transaction is there. */
    async costs(call: Call): Promise<Costs> {
      const [estimate, { maxFeePerGas, maxPriorityFeePerGas }, balance] = await Promise.all([
        client.estimateGas({ account: address, ...call }),
        client.estimateFeesPerGas(),
        client.getBalance({ address }),
      ]).catch(rejectAsTrouble)
      // A little more than now: what others change in between may cost.
      const gas = (estimate * 12n) / 10n
      const most = gas * maxFeePerGas
      if (balance < most)
        throw new EvmTrouble(
          'unfunded',
          `${address} has ${formatEther(balance)} of the ${formatEther(most)} MON that the transaction may cost`,
        )
      return { gas, maxFeePerGas, maxPriorityFeePerGas }
    },

    async sign(transaction: Call & Costs): Promise<SignedTransaction> {
      const seen = await client.getTransactionCount({ address, blockTag: 'pending' }).catch(rejectAsTrouble)
      // Some nodes do not count what is not in a block yet.
      const nonce = performance.now() < next.until ? Math.max(seen, next.number) : seen
      const raw = await account.signTransaction({ ...transaction, nonce, type: 'eip1559', chainId: EVM.chainId })
      return { tx: keccak256(raw), raw }
    },

    /** Whether a node took it says little, but for one thing: a transaction whose number is taken will never come. */
    async send(raw: Hex): Promise<'sent' | 'number_taken'> {
      const { nonce = 0 } = parseTransaction(raw)
      try {
        await client.sendRawTransaction({ serializedTransaction: raw })
        next = { number: nonce + 1, until: performance.now() + SENT_LATELY_MS }
      } catch (error) {
        const answer = answerOf(error)
        if (/already/i.test(answer)) return 'sent'
        next = { number: 0, until: 0 }
        if (/nonce|replacement/i.test(answer) && !(await mayBeKnown(keccak256(raw)))) return 'number_taken'
      }
      return 'sent'
    },

    async canStillCome(raw: Hex): Promise<boolean> {
      const { nonce = 0 } = parseTransaction(raw)
      const count = await client.getTransactionCount({ address, blockTag: 'finalized' }).catch(rejectAsTrouble)
      return count <= nonce
    },
  }
}
