// An account of ours on the EVM chain. It signs without sending, so that a transaction can be noted in between.

import { type Address, formatEther, type Hex, keccak256, parseTransaction, TransactionNotFoundError, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { answerOf, EvmError, rejectAsEvmError } from './errors.ts'
import { createEvmClient, type EvmChain } from './nodes.ts'

/** How long we count what we sent ourselves: some nodes do not count what is not in a block yet. */
const SENT_LATELY_MS = 10_000

/** Without `to` it creates a contract. */
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

const WEI_PER_GWEI = 1_000_000_000n

/** The most that a signed transaction can cost, in gwei. */
export function maxFeeGwei(raw: Hex): number {
  const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw)
  return Number((gas * maxFeePerGas + WEI_PER_GWEI - 1n) / WEI_PER_GWEI)
}

export type EvmAccount = ReturnType<typeof createEvmAccount>

export function createEvmAccount(
  chain: EvmChain,
  rpcUrls: readonly string[],
  privateKey: Uint8Array,
  timeoutMs?: number,
) {
  const account = privateKeyToAccount(toHex(privateKey))
  const { address } = account
  const client = createEvmClient(chain, rpcUrls, account, timeoutMs)
  let next = { nonce: 0, until: 0 }

  /** A node may have taken a transaction without saying so. Only a node that does not know it rules that out. */
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

    balance: (): Promise<bigint> => client.getBalance({ address }).catch(rejectAsEvmError),

    /** Also checks that we can afford it: nodes look at the balance only once the transaction is sent. */
    async costs(call: Call): Promise<Costs> {
      const [estimate, { maxFeePerGas, maxPriorityFeePerGas }, balance] = await Promise.all([
        client.estimateGas({ account: address, ...call }),
        client.estimateFeesPerGas(),
        client.getBalance({ address }),
      ]).catch(rejectAsEvmError)
      // A margin, as the state of the chain may change before it lands.
      const gas = (estimate * 12n) / 10n
      const most = gas * maxFeePerGas
      if (balance < most)
        throw new EvmError(
          'unfunded',
          `${address} has ${formatEther(balance)} of the ${formatEther(most)} MON that the transaction may cost`,
        )
      return { gas, maxFeePerGas, maxPriorityFeePerGas }
    },

    async sign(transaction: Call & Costs): Promise<SignedTransaction> {
      const counted = await client.getTransactionCount({ address, blockTag: 'pending' }).catch(rejectAsEvmError)
      const nonce = performance.now() < next.until ? Math.max(counted, next.nonce) : counted
      const raw = await account.signTransaction({ ...transaction, nonce, type: 'eip1559', chainId: chain.chainId })
      return { tx: keccak256(raw), raw }
    },

    /** Whether a node took it says little, with one exception: a transaction whose nonce is taken will never land. */
    async send(raw: Hex): Promise<'sent' | 'nonce_taken'> {
      const { nonce = 0 } = parseTransaction(raw)
      try {
        await client.sendRawTransaction({ serializedTransaction: raw })
        next = { nonce: nonce + 1, until: performance.now() + SENT_LATELY_MS }
      } catch (error) {
        const answer = answerOf(error)
        if (/already/i.test(answer)) return 'sent'
        next = { nonce: 0, until: 0 }
        if (/nonce|replacement/i.test(answer) && !(await mayBeKnown(keccak256(raw)))) return 'nonce_taken'
      }
      return 'sent'
    },

    async canStillLand(raw: Hex): Promise<boolean> {
      const { nonce = 0 } = parseTransaction(raw)
      const count = await client.getTransactionCount({ address, blockTag: 'finalized' }).catch(rejectAsEvmError)
      return count <= nonce
    },
  }
}
