import { EVM } from '@svc/payments/networks'
import {
  type Account,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createClient,
  defineChain,
  fallback,
  type Hex,
  http,
  keccak256,
  type LocalAccount,
  parseAbi,
  parseAbiItem,
  parseTransaction,
  publicActions,
  RpcRequestError,
} from 'viem'
import { type Fate, Refused } from './settler.ts'

const TIMEOUT_MS = 5_000
const ABI = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)'])
const USED = parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')

/** How the code of an account begins that acts by a contract and still has its key (EIP-7702). */
const DELEGATED = '0xef0100'
/** Public nodes answer for no more blocks at a time. */
const LOG_BLOCKS = 100
const MAX_LOG_QUERIES = 50
/** How long we know better than a node how many transactions we have sent. */
const SENT_LATELY_MS = 10_000

export interface Authorization {
  token: Address
  from: Address
  nonce: Hex
}

type Costs = { gas: bigint; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }
type Call = { address: Address; abi: readonly unknown[]; functionName: string; args?: readonly unknown[] }
export type EvmNode = ReturnType<typeof createEvmNode>

/** An answer, and no trouble. */
export class ContractRefuses extends Error {}

/** What settling asks of nodes; the next one is asked when one does not answer. */
export function createEvmNode(rpcUrls: readonly string[], account: LocalAccount) {
  const client = connect(rpcUrls, account)
  let next = { number: 0, until: 0 }

  return {
    address: account.address,

    async readContract(call: Call): Promise<unknown> {
      try {
        return await client.readContract(call as Parameters<typeof client.readContract>[0])
      } catch (error) {
        throw isRevert(error) ? new ContractRefuses('', { cause: error }) : unavailable(error)
      }
    },

    /** A contract that pays signs in a form of its own, and could never sign for its locker: that takes a key. */
    async code(address: Address, payer: string): Promise<Hex | undefined> {
      const code = await client.getCode({ address }).catch(rejectAsUnavailable)
      const isContract = code !== undefined && !code.startsWith(DELEGATED)
      if (isContract && address.toLowerCase() === payer.toLowerCase())
        throw new Refused({ why: 'invalid', reason: 'payer_is_a_contract' })
      return code
    },

    /** Also whether we can afford it. Nodes do not look at the balance before the transaction is there. */
    async costs(to: Address, data: Hex): Promise<Costs & { height: number }> {
      const [estimate, fees, balance, height] = await Promise.all([
        client.estimateGas({ account: account.address, to, data }),
        client.estimateFeesPerGas(),
        client.getBalance({ address: account.address }),
        client.getBlockNumber(),
      ]).catch(rejectAsUnavailable)
      // A little more than now: what others change in between may cost.
      const gas = (estimate * 12n) / 10n
      const { maxFeePerGas, maxPriorityFeePerGas } = fees
      if (balance < gas * maxFeePerGas) throw new Refused({ why: 'unfunded' })
      return { gas, maxFeePerGas, maxPriorityFeePerGas, height: Number(height) }
    },

    async sign(transaction: Costs & { to: Address; data: Hex }): Promise<{ tx: Hex; raw: Hex }> {
      const seen = await client
        .getTransactionCount({ address: account.address, blockTag: 'pending' })
        .catch(rejectAsUnavailable)
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
        if (/nonce|replacement/i.test(answer)) return 'number_taken'
      }
      return 'sent'
    },

    isUsed: ({ token, from, nonce }: Authorization): Promise<boolean> =>
      client
        .readContract({ address: token, abi: ABI, functionName: 'authorizationState', args: [from, nonce] })
        .catch(rejectAsUnavailable),

    /** Authorizations are public once sent: anybody may have used one in a transaction of his own. */
    async findUse({ token, from, nonce }: Authorization, since: number): Promise<Fate> {
      const last = await client.getBlockNumber().catch(rejectAsUnavailable)
      const args = { authorizer: from, nonce }
      let fromBlock = BigInt(Math.max(0, since - LOG_BLOCKS))
      for (let queries = 0; queries < MAX_LOG_QUERIES; queries++) {
        const next = fromBlock + BigInt(LOG_BLOCKS)
        const isLast = next > last
        const toBlock = isLast ? last : next - 1n
        const [log] = await client
          .getLogs({ address: token, event: USED, args, fromBlock, toBlock })
          .catch(rejectAsUnavailable)
        if (log) return { tx: log.transactionHash }
        // Its payer has cancelled it.
        if (isLast) return 'never'
        fromBlock = next
      }
      return 'may_come'
    },

    async canStillCome(raw: Hex): Promise<boolean> {
      const { nonce = 0 } = parseTransaction(raw)
      const count = await client
        .getTransactionCount({ address: account.address, blockTag: 'finalized' })
        .catch(rejectAsUnavailable)
      return count <= nonce
    },
  }
}

function connect(rpcUrls: readonly string[], account: Account) {
  const transport = fallback(
    rpcUrls.map((url) => http(url, { timeout: TIMEOUT_MS, retryCount: 0 })),
    { retryCount: 1 },
  )
  const chain = defineChain({
    id: EVM.chainId,
    name: EVM.name,
    nativeCurrency: { name: 'MON', symbol: 'MON', decimals: 18 },
    rpcUrls: { default: { http: rpcUrls } },
  })
  return createClient({ account, chain, transport, cacheTime: 0 }).extend(publicActions)
}

function rejectAsUnavailable(error: unknown): never {
  throw unavailable(error)
}

/** viem's short messages alone: its long ones quote the node's address, which may hold a key. */
function unavailable(error: unknown): Refused {
  const problem = error instanceof BaseError ? error.shortMessage : 'a node of the EVM chain does not answer'
  return new Refused({ why: 'unavailable', problem })
}

function isRevert(error: unknown): boolean {
  const refusals = [ContractFunctionRevertedError, ContractFunctionZeroDataError]
  return (
    error instanceof BaseError && error.walk((cause) => refusals.some((refusal) => cause instanceof refusal)) !== null
  )
}

/** What a node said against a transaction; nothing where it did not answer. */
function answerOf(error: unknown): string {
  const answer = error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : null
  return answer instanceof RpcRequestError ? answer.details : ''
}
