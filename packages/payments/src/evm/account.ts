// Our own account on an EVM chain. It signs without sending, so that a transaction can be stored in between.

import { coinOf } from '@svc/api/assets'
import type { EvmNetwork } from '@svc/api/networks'
import { type Address, formatEther, type Hex, keccak256, parseTransaction, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { answerOf, EvmError, rejectAsEvmError } from './errors.ts'
import { connectEvmBatches, createEvmClient } from './nodes.ts'
import { quantity } from './rpc-answers.ts'

/** How long we count our own sent transactions: some nodes do not count what is not in a block yet. */
const SENT_LATELY_MS = 10_000

/** Without `to` it creates a contract. */
export interface Call {
  to?: Address
  data: Hex
  /** Wei that are paid to it. */
  value?: bigint
}

export interface Costs {
  gas: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

export interface SignedTransaction {
  tx: Hex
  /** Complete: it can be sent again unchanged. */
  raw: Hex
}

const WEI_PER_GWEI = 1_000_000_000n

/** The most that a signed transaction can cost, in gwei. */
export function maxFeeGwei(raw: Hex): number {
  const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw)
  return Number((gas * maxFeePerGas + WEI_PER_GWEI - 1n) / WEI_PER_GWEI)
}

export type EvmAccount = ReturnType<typeof createEvmAccount>

export function createEvmAccount(
  network: EvmNetwork,
  rpcUrls: readonly string[],
  privateKey: Uint8Array,
  timeoutMs?: number,
) {
  const account = privateKeyToAccount(toHex(privateKey))
  const { address } = account
  const client = createEvmClient(network, rpcUrls, account, timeoutMs)
  const batches = connectEvmBatches(network, rpcUrls, timeoutMs === undefined ? {} : { timeoutMs })
  let next = { nonce: 0, until: 0 }

  /**
   * Whether another transaction has its nonce. Every node that answers must confirm it, each at one moment: a node that
   * lags does not know a transaction that has used its own nonce.
   */
  async function isReplaced({ tx, raw }: SignedTransaction, at: 'pending' | 'finalized'): Promise<boolean> {
    const { nonce = 0 } = parseTransaction(raw)
    const answers = await batches.all(async (ask, signal) => {
      const [count, known] = await ask(
        [
          ['eth_getTransactionCount', [address, at]],
          ['eth_getTransactionByHash', [tx]],
        ],
        signal,
      )
      return quantity(count) > BigInt(nonce) && known === null
    })
    return answers.length > 0 && answers.every((isTaken) => isTaken)
  }

  return {
    address,
    client,

    balance: (): Promise<bigint> => client.getBalance({ address }).catch(rejectAsEvmError),

    /** Also checks that the account can pay: nodes check the balance only when the transaction is sent. */
    async costs(call: Call): Promise<Costs> {
      const [estimate, { maxFeePerGas, maxPriorityFeePerGas }, balance] = await Promise.all([
        client.estimateGas({ account: address, ...call }),
        client.estimateFeesPerGas(),
        client.getBalance({ address }),
      ]).catch(rejectAsEvmError)
      // A margin, because the state of the chain may change before the transaction lands.
      const gas = (estimate * 12n) / 10n
      const most = gas * maxFeePerGas + (call.value ?? 0n)
      if (balance < most)
        throw new EvmError(
          'unfunded',
          `${address} has ${formatEther(balance)} of the ${formatEther(most)} ${coinOf(network).ticker} that the transaction may cost at most`,
        )
      return { gas, maxFeePerGas, maxPriorityFeePerGas }
    },

    async sign(transaction: Call & Costs): Promise<SignedTransaction> {
      const counted = await client.getTransactionCount({ address, blockTag: 'pending' }).catch(rejectAsEvmError)
      const nonce = performance.now() < next.until ? Math.max(counted, next.nonce) : counted
      const raw = await account.signTransaction({ ...transaction, nonce, type: 'eip1559', chainId: network.chainId })
      return { tx: keccak256(raw), raw }
    },

    /** A node's answer decides nothing, with one exception: a transaction whose nonce is used will never land. */
    async send(raw: Hex): Promise<'sent' | 'nonce_taken'> {
      const { nonce = 0 } = parseTransaction(raw)
      try {
        await client.sendRawTransaction({ serializedTransaction: raw })
        next = { nonce: nonce + 1, until: performance.now() + SENT_LATELY_MS }
      } catch (error) {
        const answer = answerOf(error)
        if (/already/i.test(answer)) return 'sent'
        next = { nonce: 0, until: 0 }
        const signed = { tx: keccak256(raw), raw }
        if (/nonce|replacement/i.test(answer) && (await isReplaced(signed, 'pending'))) return 'nonce_taken'
      }
      return 'sent'
    },

    /** Whether it can never land, because another transaction has used its nonce. */
    isLost: (signed: SignedTransaction): Promise<boolean> => isReplaced(signed, 'finalized'),
  }
}
