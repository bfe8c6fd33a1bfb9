import { type Address, type Hex, parseAbi, parseAbiItem } from 'viem'
import { type Costs, createEvmAccount, type SignedTransaction } from '../evm/account.ts'
import { EvmTrouble, meaningOf, Reverted } from '../evm/trouble.ts'
import { type Fate, Refused } from './settler.ts'

const ABI = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)'])
const USED = parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')

/** How the code of an account begins that acts by a contract and still has its key (EIP-7702). */
const DELEGATED = '0xef0100'
/** Public nodes answer for no more blocks at a time. */
const LOG_BLOCKS = 100
const MAX_LOG_QUERIES = 50

export interface Authorization {
  token: Address
  from: Address
  nonce: Hex
}

type Read = { address: Address; abi: readonly unknown[]; functionName: string; args?: readonly unknown[] }
type Write = { to: Address; data: Hex }
export type EvmNode = ReturnType<typeof createEvmNode>

/** What settling asks of nodes, and of the account that pays for it. */
export function createEvmNode(rpcUrls: readonly string[], key: Uint8Array) {
  const account = createEvmAccount(rpcUrls, key)
  const { client } = account

  return {
    address: account.address,

    /** Throws `Reverted` where the contract says no. */
    async readContract(read: Read): Promise<unknown> {
      try {
        return await client.readContract(read as Parameters<typeof client.readContract>[0])
      } catch (error) {
        const meaning = meaningOf(error)
        throw meaning instanceof Reverted ? meaning : refused(meaning)
      }
    },

    /** A contract that pays signs in a form of its own, and could never sign for its locker: that takes a key. */
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
    canStillCome: (raw: Hex): Promise<boolean> => account.canStillCome(raw).catch(rejectAsRefused),

    /** Where the chain stands. */
    height: async (): Promise<number> => Number(await client.getBlockNumber().catch(rejectAsRefused)),

    isUsed: ({ token, from, nonce }: Authorization): Promise<boolean> =>
      client
        .readContract({ address: token, abi: ABI, functionName: 'authorizationState', args: [from, nonce] })
        .catch(rejectAsRefused),

    /** Authorizations are public once sent: anybody may have used one in a transaction of his own. */
    async findUse({ token, from, nonce }: Authorization, since: number): Promise<Fate> {
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
        if (log) return { tx: log.transactionHash }
        // Its payer has cancelled it.
        if (isLast) return 'never'
        fromBlock = next
      }
      return 'may_come'
    },
  }
}

function rejectAsRefused(error: unknown): never {
  throw refused(meaningOf(error))
}

/** A contract that says no where none was asked to is no better than a node that does not answer. */
function refused(meaning: EvmTrouble | Reverted): Refused {
  const isUnfunded = meaning instanceof EvmTrouble && meaning.why === 'unfunded'
  return new Refused(isUnfunded ? { why: 'unfunded' } : { why: 'unavailable', problem: meaning.message })
}
