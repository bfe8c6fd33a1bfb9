import { address, getBase64Encoder, getU64Decoder } from '@solana/kit'
import { NATIVE_ASSETS, type SolanaNetwork } from '@svc/api/networks'
import { type BalanceReader, createBalanceReader } from '../balance-reader.ts'
import { NodeProblem } from '../nodes/node-pool.ts'
import type { Destination } from '../payment.ts'
import { connectSolana, type SolanaRpc } from './nodes.ts'

const TIMEOUT_MS = 5_000
/** The position of the amount in a token account. */
const AMOUNT = { offset: 64, length: 8 }

export function createSolanaBalanceReader(
  network: SolanaNetwork,
  rpcUrls: readonly string[],
  quorum = 1,
): BalanceReader {
  return createBalanceReader(connectSolana(network, rpcUrls, { timeoutMs: TIMEOUT_MS, quorum }), readBalances)
}

async function readBalances(rpc: SolanaRpc, destinations: readonly Destination[], abortSignal: AbortSignal) {
  const accounts = destinations.map(({ payTo }) => address(payTo))
  const options = { encoding: 'base64', commitment: 'confirmed', dataSlice: AMOUNT } as const
  const { value } = await rpc.getMultipleAccounts(accounts, options).send({ abortSignal })
  return destinations.map(({ asset }, i) => {
    const account = value[i]
    if (!account) return 0n
    return asset === NATIVE_ASSETS.solana ? coinAmount(account) : tokenAmount(account.data[0])
  })
}

function coinAmount({ lamports }: { lamports: unknown }): bigint {
  if (typeof lamports !== 'bigint') throw new NodeProblem('an account without a balance')
  return lamports
}

/** Anyone may send coins to the address of a token account that does not exist yet: such an account has no amount. */
function tokenAmount(data: string): bigint {
  const bytes = getBase64Encoder().encode(data)
  return bytes.length === AMOUNT.length ? getU64Decoder().decode(bytes) : 0n
}
