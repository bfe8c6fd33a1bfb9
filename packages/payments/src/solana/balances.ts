import { address, createSolanaRpc, getBase64Encoder, getU64Decoder } from '@solana/kit'
import { NodeProblem } from '../ask-nodes.ts'
import { type BalanceReader, createBalanceReader } from '../balances.ts'
import { PRIMARY } from '../networks.ts'
import type { Destination } from '../payment.ts'

/** Where a token account has its amount. */
const AMOUNT = { offset: 64, length: 8 }

export function createSolanaBalanceReader(rpcUrls: readonly string[]): BalanceReader {
  return createBalanceReader(rpcUrls, readBalances)
}

async function readBalances(url: string, destinations: readonly Destination[], abortSignal: AbortSignal) {
  const rpc = createSolanaRpc(url)
  const genesis: string = await rpc.getGenesisHash().send({ abortSignal })
  if (genesis !== PRIMARY.genesisHash) throw new NodeProblem('a node of another chain')
  const accounts = destinations.map(({ payTo }) => address(payTo))
  const options = { encoding: 'base64', commitment: 'confirmed', dataSlice: AMOUNT } as const
  const { value } = await rpc.getMultipleAccounts(accounts, options).send({ abortSignal })
  return destinations.map(({ asset }, i) => {
    const account = value[i]
    if (!account) return 0n
    return asset === PRIMARY.nativeAsset ? account.lamports : tokenAmount(account.data[0])
  })
}

/** Anybody may send coins to where a token account is not yet: such an account has no amount. */
function tokenAmount(data: string): bigint {
  const bytes = getBase64Encoder().encode(data)
  return bytes.length === AMOUNT.length ? getU64Decoder().decode(bytes) : 0n
}
