import { type Costs, createEvmAccount, type SignedTransaction } from '@svc/chains/evm/account'
import { EvmError, Reverted, toEvmError } from '@svc/chains/evm/errors'
import { EVM } from '@svc/payments/networks'
import { type Address, type Hex, parseAbi, parseAbiItem } from 'viem'
import { Refused, type SettlementOutcome } from './settler.ts'

const ABI = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)'])
const USED = parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')

/** The code of an account that delegates to a contract and still has its key begins with this (EIP-7702). */
const DELEGATED = '0xef0100'
/** Public nodes search at most this many blocks at a time. */
const LOG_BLOCKS = 100
const MAX_LOG_QUERIES = 50

export interface Authorization {
  token: Address
  from: Address
  nonce: Hex
}

type Read = { address: Address; abi: readonly unknown[]; functionName: string; args?: readonly unknown[] }
type Write = { to: Address; data: Hex }
export type EvmChain = ReturnType<typeof createEvmChain>

/** The questions and transactions of the EVM settler. Its account pays the network fees. Throws `Refused`. */
export function createEvmChain(rpcUrls: readonly string[], key: Uint8Array) {
  const account = createEvmAccount(EVM, rpcUrls, key)
  const { client } = account

  return {
    address: account.address,

    /** Throws `Reverted` when the contract reverts. */
    async readContract(read: Read): Promise<unknown> {
      try {
        return await client.readContract(read as Parameters<typeof client.readContract>[0])
      } catch (error) {
        const known = toEvmError(error)
        throw known instanceof Reverted ? known : refused(known)
      }
    },

    /** A contract cannot be the payer: it has no key to sign for its locker with. */
    async code(address: Address, payer: string): Promise<Hex | undefined> {
      const code = await client.getCode({ address }).catch(rejectAsRefused)
      const isContract = code !== undefined && !code.startsWith(DELEGATED)
      if (isContract && address.toLowerCase() === payer.toLowerCase())
        throw new Refused({ why: 'invalid', reason: 'payer_is_a_contract' })
      return code
    },

    costs: (write: Write): Promise<Costs> => account.costs(write).catch(rejectAsRefused),
    sign: (write: Write & Costs): Promise<SignedTransaction> => account.sign(write).catch(rejectAsRefused),
    send: account.send,
    canStillLand: (raw: Hex): Promise<boolean> => account.canStillLand(raw).catch(rejectAsRefused),

    height: async (): Promise<number> => Number(await client.getBlockNumber().catch(rejectAsRefused)),

    isUsed: ({ token, from, nonce }: Authorization): Promise<boolean> =>
      client
        .readContract({ address: token, abi: ABI, functionName: 'authorizationState', args: [from, nonce] })
        .catch(rejectAsRefused),

    /** An authorization is public once it is sent: anybody may have used it in their own transaction. */
    async findUse({ token, from, nonce }: Authorization, since: number): Promise<SettlementOutcome> {
      const last = await client.getBlockNumber().catch(rejectAsRefused)
      const args = { authorizer: from, nonce }
      let fromBlock = BigInt(Math.max(0, since - LOG_BLOCKS))
      for (let queries = 0; queries < MAX_LOG_QUERIES; queries++) {
        const next = fromBlock + BigInt(LOG_BLOCKS)
        const isLast = next > last
        const toBlock = isLast ? last : next - 1n
        const [log] = await client
          .getLogs({ address: token, event: USED, args, fromBlock, toBlock })
          .catch(rejectAsRefused)
        if (log) return { outcome: 'landed', tx: log.transactionHash }
        // Used without an event: the payer has cancelled it.
        if (isLast) return { outcome: 'expired' }
        fromBlock = next
      }
      return { outcome: 'pending' }
    },
  }
}

function rejectAsRefused(error: unknown): never {
  throw refused(toEvmError(error))
}

/** A contract that reverts a read counts as a node that does not answer. */
function refused(error: EvmError | Reverted): Refused {
  const isUnfunded = error instanceof EvmError && error.why === 'unfunded'
  return new Refused(isUnfunded ? { why: 'unfunded' } : { why: 'unavailable', problem: error.message })
}
